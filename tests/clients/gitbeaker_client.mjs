// Runs @gitbeaker/rest against a served world and checks what it reads and writes.
//
// usage: node gitbeaker_client.mjs READY.json

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Gitlab } from "@gitbeaker/rest";

const ready = JSON.parse(readFileSync(process.argv[2], "utf8"));
// The client warns about a deprecated call on every request.
console.warn = () => {};

const client = (user) => new Gitlab({ host: ready.base_url, token: ready.tokens[user] });
const root = client("root");
const ada = client("ada");

async function refused(status, call) {
  let response;
  try {
    await call();
  } catch (error) {
    response = error.cause?.response;
    if (!response) throw error;
  }
  assert.equal(response?.status, status, `refused with ${status}`);
}

const ids = (list) => list.map((one) => one.id);
const text = async (content) => (typeof content === "string" ? content : Buffer.from(await content.arrayBuffer()).toString());

async function users() {
  assert.equal((await root.Users.showCurrentUser()).username, "root");
  await refused(401, () => new Gitlab({ host: ready.base_url, token: "wrong" }).Users.showCurrentUser());
  const every = await root.Users.all({ perPage: 3 });
  assert.ok(every.length > 3, "all pages");
  assert.deepEqual((await root.Users.all({ username: "ada" })).map((u) => u.username), ["ada"]);
  const made = await root.Users.create({ email: "n@acme.example", username: "beaker", name: "Beaker", password: "s3cret-and-long" });
  await refused(409, () => root.Users.create({ email: "m@acme.example", username: "beaker", name: "x", password: "s3cret-and-long" }));
  await root.Users.edit(made.id, { name: "Beaker B.", bio: "builds" });
  assert.equal((await root.Users.show(made.id)).name, "Beaker B.");
  assert.ok(Array.isArray(await root.Users.allProjects(made.id)));
  const blob = (fill) => Buffer.concat([Buffer.from("\0\0\0\x0bssh-ed25519\0\0\0 ", "latin1"), Buffer.alloc(32, fill)]).toString("base64");
  const key = await root.UserSSHKeys.create("laptop", `ssh-ed25519 ${blob(7)} beaker@laptop`, { userId: made.id });
  assert.deepEqual(ids(await root.UserSSHKeys.all({ userId: made.id })), [key.id]);
  assert.equal((await root.Keys.show({ keyId: key.id })).user.username, "beaker");
  await root.UserSSHKeys.remove(key.id, { userId: made.id });
  const own = await ada.UserSSHKeys.create("desk", `ssh-ed25519 ${blob(8)} ada@desk`);
  assert.ok(ids(await ada.UserSSHKeys.all()).includes(own.id));
  assert.equal((await ada.UserSSHKeys.show(own.id)).title, "desk");
  await refused(400, () => ada.UserSSHKeys.create("desk", own.key));
  await ada.UserSSHKeys.remove(own.id);
  const armored =
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBFVjb2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OQ==\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----";
  const gpg = await ada.UserGPGKeys.create(armored);
  assert.ok(ids(await ada.UserGPGKeys.all()).includes(gpg.id));
  assert.equal((await ada.UserGPGKeys.show(gpg.id)).id, gpg.id);
  const me = (await ada.Users.showCurrentUser()).id;
  assert.ok(ids(await root.UserGPGKeys.all({ userId: me })).includes(gpg.id));
  assert.equal((await root.UserGPGKeys.show(gpg.id, { userId: me })).id, gpg.id);
  await ada.UserGPGKeys.remove(gpg.id);
  await root.Users.remove(made.id);
  await refused(404, () => root.Users.show(made.id));
}

async function groups() {
  assert.ok((await root.Groups.all({ statistics: true })).length > 3);
  assert.deepEqual((await root.Groups.search("infra")).map((g) => g.path), ["infra"]);
  const acme = await root.Groups.show("acme");
  assert.ok((await root.Groups.allSubgroups(acme.id)).some((g) => g.full_path === "acme/tools"));
  assert.ok((await root.Groups.allProjects("acme")).some((p) => p.path_with_namespace === "acme/rocket-ui"));
  const made = await root.Groups.create("Beaker Checks", "beaker-checks", { visibility: "private" });
  await root.Groups.edit(made.id, { description: "changed" });
  assert.equal((await root.Groups.show(made.id)).description, "changed");
  const project = await root.Projects.create({ name: "beaker-moves" });
  await root.Groups.transferProject(made.id, project.id);
  assert.equal((await root.Projects.show(project.id)).path_with_namespace, "beaker-checks/beaker-moves");
  await root.GroupLDAPLinks.add(made.id, 30, "ldapmain", { cn: "people" });
  await root.GroupLDAPLinks.sync(made.id);
  assert.equal((await root.NotificationSettings.show({ groupId: made.id })).level, "global");
  assert.equal((await root.NotificationSettings.edit({ groupId: made.id, level: "watch" })).level, "watch");
  await refused(404, () => ada.Groups.show(made.id));
  await root.Groups.remove(made.id);
  await refused(404, () => root.Groups.show(made.id));
}

async function projects() {
  const every = await root.Projects.all({ perPage: 4 });
  const offset = await root.Projects.all({ perPage: 3, maxPages: 1, showExpanded: true });
  assert.equal(offset.paginationInfo.total, every.length);
  assert.equal(offset.paginationInfo.next, 2);
  assert.deepEqual(ids(every).slice(0, 3), ids(offset.data));
  assert.ok((await root.Projects.all({ userId: "ada" })).every((p) => p.namespace.path === "ada"));
  assert.deepEqual((await root.Projects.search("handbook")).map((p) => p.path), ["handbook"]);
  assert.ok((await root.Projects.show("acme/rocket-ui", { statistics: true })).statistics.commit_count > 10);
  assert.ok((await root.Projects.allUsers("acme/rocket-ui")).some((u) => u.username === "ada"));
  const theirs = await root.Projects.create({ userId: 2, name: "beaker-gave" });
  assert.equal(theirs.path_with_namespace, "ada/beaker-gave");
  const made = await root.Projects.create({ name: "Beaker Made", description: "d", visibility: "public" });
  await refused(400, () => root.Projects.create({ name: "Beaker Made" }));
  assert.equal((await root.Projects.edit(made.id, { description: "e" })).description, "e");
  assert.equal((await root.NotificationSettings.show({ projectId: made.id })).level, "global");
  const custom = await root.NotificationSettings.edit({ projectId: made.id, level: "custom", newNote: true });
  assert.equal(custom.level, "custom");
  assert.equal(custom.events.new_note, true);
}

async function repository(project) {
  const rocket = await root.Projects.show("acme/rocket-ui");
  const tree = await root.Repositories.allRepositoryTrees(rocket.id);
  const deep = await root.Repositories.allRepositoryTrees(rocket.id, { recursive: true });
  assert.ok(deep.length > tree.length, "a recursive tree is larger");
  const readme = tree.find((entry) => entry.path === "README.md");
  const blob = await root.Repositories.showBlob(rocket.id, readme.id);
  const raw = await text(await root.Repositories.showBlobRaw(rocket.id, readme.id));
  assert.equal(Buffer.from(blob.content, "base64").toString(), raw);
  assert.ok((await root.Repositories.allContributors(rocket.id)).every((c) => c.commits > 0));
  assert.ok((await root.Branches.all(rocket.id, { search: "main" })).every((b) => b.name.includes("main")));
  assert.equal((await root.Branches.show(rocket.id, rocket.default_branch)).name, rocket.default_branch);

  const first = await root.Commits.create(project, "main", "Begin", [
    { action: "create", filePath: "a.txt", content: "one\n" },
    { action: "create", filePath: "dir/ü b", content: "AAEC", encoding: "base64" },
  ]);
  const second = await root.Commits.create(
    project,
    "topic/slash",
    "Change",
    [
      { action: "update", filePath: "a.txt", content: "two\n" },
      { action: "move", filePath: "b", previousPath: "dir/ü b" },
    ],
    { startBranch: "main" },
  );
  assert.deepEqual(second.parent_ids, [first.id]);
  assert.equal((await root.Commits.show(project, "topic/slash")).id, second.id);
  assert.deepEqual(ids(await root.Commits.all(project, { refName: "topic/slash", path: "a.txt" })), [second.id, first.id]);
  assert.equal((await root.Commits.showDiff(project, second.id)).length, 2);
  assert.deepEqual((await root.Commits.allReferences(project, second.id, { type: "branch" })).map((r) => r.name), ["topic/slash"]);
  assert.deepEqual(ids((await root.Repositories.compare(project, "main", "topic/slash")).commits), [second.id]);
  await root.Commits.createComment(project, second.id, "on a line", { path: "a.txt", line: 1, lineType: "new" });
  assert.equal((await root.Commits.allComments(project, second.id))[0].line, 1);
  await root.Commits.editStatus(project, second.id, "success", { name: "check", coverage: 91.5, ref: "topic/slash" });
  assert.equal((await root.Commits.allStatuses(project, second.id))[0].name, "check");
  await root.Commits.create(project, "main", "Other", [{ action: "create", filePath: "c", content: "c" }]);
  await root.Commits.cherryPick(project, second.id, "main");
  await root.Branches.create(project, "done", "main");
  await refused(400, () => root.Branches.create(project, "done", "main"));
  await root.Branches.remove(project, "done");
  await root.Branches.create(project, "done", "main");
  await root.Commits.create(project, "main", "On", [{ action: "create", filePath: "d", content: "d" }]);
  await root.Branches.removeMerged(project);
  await refused(404, () => root.Branches.show(project, "done"));
  const tag = await root.Tags.create(project, "v1.0", "main", { message: "One" });
  assert.equal(tag.message, "One");
  assert.deepEqual((await root.Tags.all(project)).map((t) => t.name), ["v1.0"]);
  assert.equal((await root.Tags.show(project, "v1.0")).name, "v1.0");
  await root.Tags.remove(project, "v1.0");
}

async function archives() {
  const archive = await root.Repositories.showArchive("acme/rocket-ui", { fileType: "zip" });
  assert.equal(Buffer.from(await archive.arrayBuffer()).subarray(0, 2).toString(), "PK");
}

async function notes(api, resource, other) {
  const note = await api.create(resource, other, "first words");
  assert.ok(ids(await api.all(resource, other)).includes(note.id));
  assert.equal((await api.show(resource, other, note.id)).id, note.id);
  await api.edit(resource, other, note.id, { body: "other words" });
  await api.remove(resource, other, note.id);
  assert.ok(!ids(await api.all(resource, other)).includes(note.id));
}

async function requests(project) {
  assert.ok((await root.MergeRequests.all({ scope: "all", state: "opened" })).length > 0);
  const [listed] = await root.MergeRequests.all({ projectId: "acme/rocket-ui", iids: [42] });
  assert.equal(listed.iid, 42);
  const one = await root.MergeRequests.show("acme/rocket-ui", 42);
  assert.equal(one.id, listed.id);
  assert.ok((await root.MergeRequests.allParticipants("acme/rocket-ui", 42)).length > 0);
  assert.ok((await root.MergeRequests.allCommits("acme/rocket-ui", 42)).length > 0);
  const changed = await root.MergeRequests.showChanges("acme/rocket-ui", 42);
  assert.equal(changed.changes_count, String(changed.changes.length));
  await root.MergeRequests.allPipelines("acme/rocket-ui", 42);
  const made = await root.MergeRequests.create(project, "topic/slash", "main", "Bring it", { labels: "a,b" });
  assert.deepEqual([...made.labels].sort(), ["a", "b"]);
  await refused(409, () => root.MergeRequests.create(project, "topic/slash", "main", "again"));
  await notes(root.MergeRequestNotes, project, made.iid);
  const closed = await root.MergeRequests.edit(project, made.iid, { title: "Brought", stateEvent: "close" });
  assert.deepEqual([closed.title, closed.state], ["Brought", "closed"]);
}

async function otherNotes() {
  const [issue] = await root.Search.all("issues", "e");
  await notes(root.IssueNotes, issue.project_id, issue.iid);
  await notes(root.EpicNotes, "acme", 1);
}

async function snippets(project) {
  const made = await root.ProjectSnippets.create(project, "S", { fileName: "s.js", content: "one\n", visibility: "private" });
  assert.equal(made.file_name, "s.js");
  assert.equal(await text(await root.ProjectSnippets.showContent(project, made.id)), "one\n");
  assert.equal((await root.ProjectSnippets.edit(project, made.id, { title: "T" })).title, "T");
  assert.equal((await root.ProjectSnippets.show(project, made.id)).title, "T");
  assert.deepEqual(ids(await root.ProjectSnippets.all(project)), [made.id]);
  assert.ok("user_agent" in (await root.ProjectSnippets.showUserAgentDetails(project, made.id)));
  await notes(root.ProjectSnippetNotes, project, made.id);
  await root.ProjectSnippets.remove(project, made.id);
}

async function runners(project) {
  const every = await root.Runners.all();
  assert.ok(every.length > 2);
  await root.Runners.all({ owned: true });
  for (const runner of every) await root.Runners.show(runner.id);
  let free;
  for (const runner of every.filter((r) => !r.is_shared)) {
    free ??= (await root.Runners.show(runner.id)).locked ? undefined : runner;
  }
  assert.equal((await root.Runners.edit(free.id, { description: "renamed" })).description, "renamed");
  await root.Runners.allJobs(free.id);
  await root.Runners.enable(project, free.id);
  assert.ok(ids(await root.Runners.all({ projectId: project })).includes(free.id));
  await root.Runners.disable(project, free.id);
  await root.Runners.remove({ runnerId: every.at(-1).id });
}

async function jobs() {
  const rocket = "acme/rocket-ui";
  const every = await root.Jobs.all(rocket);
  const done = every.find((job) => job.artifacts_file && job.status === "success");
  assert.equal((await root.Jobs.show(rocket, done.id)).name, done.name);
  assert.ok(ids(await root.Jobs.all(rocket, { pipelineId: done.pipeline.id })).length > 0);
  const zip = await root.JobArtifacts.downloadArchive(rocket, { jobId: done.id });
  assert.equal(Buffer.from(await zip.arrayBuffer()).subarray(0, 2).toString(), "PK");
  const latest = await root.JobArtifacts.downloadArchive(rocket, { ref: done.ref, job: done.name });
  assert.equal(Buffer.from(await latest.arrayBuffer()).subarray(0, 2).toString(), "PK");
  await root.JobArtifacts.keep(rocket, done.id);
  assert.ok((await text(await root.Jobs.showLog(rocket, done.id))).length > 0);
  const manual = (await root.Jobs.all(rocket, { scope: "manual" }))[0];
  await root.Jobs.play(rocket, manual.id);
  assert.equal((await root.Jobs.cancel(rocket, manual.id)).status, "canceled");
  assert.notEqual((await root.Jobs.retry(rocket, manual.id)).id, manual.id);
  await root.Jobs.erase(rocket, every.find((job) => job.status === "failed").id);
}

async function deployments() {
  const every = await root.Deployments.all("acme/rocket-ui");
  assert.equal((await root.Deployments.show("acme/rocket-ui", every[0].id)).sha, every[0].sha);
}

async function labels() {
  for (const [kind, at] of [["GroupLabels", "acme"], ["ProjectLabels", "acme/rocket-ui"]]) {
    const made = await root[kind].create(at, "from beaker", "#8899aa");
    await root[kind].edit(at, "from beaker", { newName: "renamed by beaker" });
    assert.equal((await root[kind].all(at)).find((label) => label.id === made.id).name, "renamed by beaker");
    await root[kind].remove(at, "renamed by beaker");
  }
}

async function suggestions() {
  const usable = async () => {
    const threads = await ada.MergeRequestDiscussions.all("acme/rocket-ui", 42);
    const every = threads.flatMap((thread) => thread.notes).flatMap((note) => note.suggestions ?? []);
    return ids(every.filter((suggestion) => suggestion.appliable));
  };
  const [first] = await usable();
  await ada.Suggestions.edit(first);
  await refused(400, () => ada.Suggestions.edit(first));
  const { base_sha: baseSha, start_sha: startSha, head_sha: headSha } = (await ada.MergeRequests.show("acme/rocket-ui", 42)).diff_refs;
  const [path, newLine] = ["benches/frame.rs", "2"];
  const position = { baseSha, startSha, headSha, positionType: "text", oldPath: path, newPath: path, newLine };
  await ada.MergeRequestDiscussions.create("acme/rocket-ui", 42, "```suggestion\n// Measured.\n```", { position });
  const [second] = await usable();
  await ada.Suggestions.editBatch([second]);
  assert.ok(!(await usable()).includes(second));
}

async function search() {
  assert.ok((await root.Search.all("projects", "rocket")).some((p) => p.path === "rocket-ui"));
  assert.ok((await root.Search.all("projects", "rocket", { groupId: "acme" })).length > 0);
  assert.ok((await root.Search.all("blobs", "fn ", { projectId: "acme/rocket-ui" })).length > 0);
  await refused(400, () => root.Search.all("nonsense", "e"));
}

async function administration() {
  assert.ok((await ada.Metadata.show()).version);
  const hook = await root.SystemHooks.create("http://127.0.0.1:9/hook", { token: "s3cret", pushEvents: true });
  assert.ok(!("token" in hook));
  assert.ok(ids(await root.SystemHooks.all()).includes(hook.id));
  await root.SystemHooks.remove(hook.id);
  await refused(403, () => ada.SystemHooks.all());
  assert.ok("licensee" in (await root.License.show()));
  assert.ok("licensee" in (await root.License.add(ready.license)));
  await refused(400, () => root.License.add("nonsense"));
  await ada.NotificationSettings.edit({ level: "participating" });
  assert.equal((await ada.NotificationSettings.show()).level, "participating");
}

const work = (await root.Projects.create({ name: "Beaker Work", visibility: "public" })).id;
const steps = [users, groups, projects, repository, archives, requests, otherNotes, snippets, runners, jobs, deployments, labels, suggestions];
let failures = 0;
for (const step of [...steps, search, administration]) {
  try {
    await step(work);
  } catch (error) {
    failures += 1;
    console.error(`${step.name}:`, error.cause?.description ?? "", error.stack);
  }
}
console.log(`@gitbeaker/rest: ${failures} steps failed`);
process.exit(failures ? 1 : 0);
