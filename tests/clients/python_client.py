"""Runs python-gitlab against a served world and checks what it reads and writes.

usage: python_client.py READY.json
"""

import base64
import io
import json
import sys
import tarfile
import traceback
import zipfile

import gitlab

with open(sys.argv[1], encoding="utf-8") as file:
    ready = json.load(file)


def client(user):
    return gitlab.Gitlab(ready["base_url"], private_token=ready["tokens"][user])


def same(what, found, expected):
    assert found == expected, f"{what}: {found!r}, not {expected!r}"


def true(what, found):
    assert found, what


def refused(code, call, *arguments, **inputs):
    try:
        call(*arguments, **inputs)
    except gitlab.exceptions.GitlabError as error:
        same(f"the status of {call}", error.response_code, code)
        return
    raise AssertionError(f"{call} was not refused with {code}")


root = client("root")
ada = client("ada")
anyone = gitlab.Gitlab(ready["base_url"])


def users():
    root.auth()
    same("the caller", (root.user.username, root.user.is_admin), ("root", True))
    refused(401, gitlab.Gitlab(ready["base_url"], private_token="wrong").auth)
    everyone = root.users.list(get_all=True)
    names = {user.username for user in everyone}
    true("all users", {"root", "ada"} <= names)
    same("ids fall", [user.id for user in everyone], sorted((user.id for user in everyone), reverse=True))
    same("a filter", [user.username for user in root.users.list(username="ada")], ["ada"])
    true("blocked ones", all(user.state == "blocked" for user in root.users.list(blocked=True)))

    new = root.users.create(
        {"email": "new@acme.example", "username": "new.person", "name": "New Person", "password": "s3cret-and-long"}
    )
    same("a created user", (new.username, new.state), ("new.person", "active"))
    refused(409, root.users.create, {"email": "x@y.example", "username": "new.person", "name": "x", "password": "s3cret!!"})
    new.name = "Renamed Person"
    new.bio = "Writes tests"
    new.save()
    same("a renamed user", root.users.get(new.id).name, "Renamed Person")
    refused(403, ada.users.create, {"email": "a@b.example", "username": "a", "name": "a", "password": "s3cret!!"})

    blob = base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(range(32))).decode()
    key = new.keys.create({"title": "laptop", "key": f"ssh-ed25519 {blob} new@laptop"})
    same("keys of a user", [k.id for k in new.keys.list()], [key.id])
    same("who a key belongs to", root.keys.get(key.id).user["username"], "new.person")
    new.keys.delete(key.id)
    same("no keys of a user", new.keys.list(), [])
    same("projects of a user", {p.namespace["path"] for p in root.users.get(2).projects.list()}, {"ada"})
    gpg = root.users.get(2).gpgkeys.list()
    if gpg:
        root.users.get(2).gpgkeys.get(gpg[0].id)
    new.delete()
    refused(404, root.users.get, new.id)

    ada.auth()
    blob = base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(range(1, 33))).decode()
    key = ada.user.keys.create({"title": "desk", "key": f"ssh-ed25519 {blob} ada@desk"})
    true("own keys", key.id in [k.id for k in ada.user.keys.list()])
    same("one own key", ada.user.keys.get(key.id).title, "desk")
    refused(400, ada.user.keys.create, {"title": "desk", "key": key.key})
    key.delete()
    armored = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBFVjb2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OQ==\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----"
    gpg = ada.user.gpgkeys.create({"key": armored})
    true("own GPG keys", gpg.id in [k.id for k in ada.user.gpgkeys.list()])
    ada.user.gpgkeys.get(gpg.id)
    true("GPG keys of another", gpg.id in [k.id for k in root.users.get(ada.user.id).gpgkeys.list()])
    same("a GPG key of another", root.users.get(ada.user.id).gpgkeys.get(gpg.id).id, gpg.id)
    gpg.delete()


def groups():
    every = root.groups.list(get_all=True, statistics=True)
    same("names rise", [g.name for g in every], sorted((g.name for g in every), key=str.lower))
    same("a found group", [g.path for g in root.groups.list(search="infra")], ["infra"])
    acme = root.groups.get("acme")
    true("subgroups", "acme/tools" in [g.full_path for g in acme.subgroups.list()])
    true("projects of a group", "acme/rocket-ui" in [p.path_with_namespace for p in acme.projects.list(get_all=True)])
    true("anyone sees public groups", all(g.visibility == "public" for g in anyone.groups.list(get_all=True)))

    lab = root.groups.create({"name": "Client Checks", "path": "client-checks", "visibility": "private"})
    same("a created group", (lab.full_path, lab.visibility), ("client-checks", "private"))
    lab.description = "Made by a client"
    lab.save()
    same("a changed group", root.groups.get(lab.id).description, "Made by a client")
    moved = root.projects.create({"name": "to-move"})
    lab.transfer_project(moved.id)
    same("a moved project", root.projects.get(moved.id).path_with_namespace, "client-checks/to-move")
    link = lab.ldap_group_links.create({"cn": "people", "group_access": 30, "provider": "ldapmain"})
    same("a directory link", (link.cn, link.provider), ("people", "ldapmain"))
    lab.ldap_sync()
    same("settings of a group", lab.notificationsettings.get().level, "global")
    settings = lab.notificationsettings.get()
    settings.level = "watch"
    settings.save()
    same("new settings of a group", lab.notificationsettings.get().level, "watch")
    refused(404, ada.groups.get, lab.id)
    lab.delete()
    refused(404, root.groups.get, lab.id)


def projects():
    every = root.projects.list(get_all=True, per_page=3)
    paged = [p.id for p in root.projects.list(iterator=True, per_page=4)]
    same("pages of other sizes", paged, [p.id for p in every])
    keyset = {"iterator": True, "pagination": "keyset", "per_page": 2}
    same("projects by keyset", [p.id for p in root.projects.list(order_by="id", sort="asc", **keyset)], sorted(paged))
    names = [g.name for g in root.groups.list(get_all=True)]
    same("groups by keyset", [g.name for g in root.groups.list(order_by="name", sort="asc", **keyset)], names)
    users = sorted(u.id for u in root.users.list(get_all=True))
    same("users by keyset", [u.id for u in root.users.list(order_by="id", sort="asc", **keyset)], users)
    first = root.projects.list(per_page=3, iterator=True)
    same("totals", (first.total, first.total_pages, first.per_page, first.next_page), (len(every), -(-len(every) // 3), 3, 2))
    same("a found project", {p.path for p in root.projects.list(search="handbook")}, {"handbook"})
    true("archived ones", all(p.archived for p in root.projects.list(archived=True)))
    true("a simple listing is short", "issues_enabled" not in root.projects.list(simple=True, get_all=True)[0].attributes)
    true("anyone sees public projects", all(p.visibility == "public" for p in anyone.projects.list(get_all=True)))
    rocket = root.projects.get("acme/rocket-ui", statistics=True)
    true("statistics", rocket.statistics["commit_count"] > 10)
    files = [f["path"] for f in rocket.repository_tree(recursive=True, get_all=True)]
    same("files by keyset", [f["path"] for f in rocket.repository_tree(recursive=True, **keyset)], files)
    branches = [b.name for b in rocket.branches.list(get_all=True)]
    same("branches by keyset", [b.name for b in rocket.branches.list(**keyset)], branches)
    true("users of a project", "ada" in [u.username for u in rocket.users.list()])

    made = root.projects.create({"name": "Client Made", "description": "by a client", "visibility": "public"})
    same("a created project", (made.path, made.visibility, made.description), ("client-made", "public", "by a client"))
    refused(400, root.projects.create, {"name": "Client Made"})
    made.description = "changed"
    made.save()
    same("a changed project", root.projects.get(made.id).description, "changed")
    same("settings of a project", made.notificationsettings.get().level, "global")
    settings = made.notificationsettings.get()
    settings.level = "custom"
    settings.new_note = True
    settings.save()
    same("new settings of a project", made.notificationsettings.get().level, "custom")
    theirs = root.users.get(2).projects.create({"name": "given"})
    same("a project for another", root.projects.get(theirs.id).path_with_namespace, "ada/given")


def repository(made):
    rocket = root.projects.get("acme/rocket-ui")
    default = rocket.default_branch
    tree = rocket.repository_tree(get_all=True)
    every = rocket.repository_tree(recursive=True, get_all=True)
    true("a recursive tree is larger", len(every) > len(tree))
    readme = next(entry for entry in tree if entry["path"] == "README.md")
    blob = rocket.repository_blob(readme["id"])
    raw = rocket.repository_raw_blob(readme["id"])
    same("a blob and its bytes", base64.b64decode(blob["content"]), raw)
    same("the size of a blob", blob["size"], len(raw))
    true("contributors", {"name", "email", "commits", "additions", "deletions"} <= set(rocket.repository_contributors()[0]))

    branches = rocket.branches.list(get_all=True)
    same("branches by name", [b.name for b in branches], sorted(b.name for b in branches))
    true("found branches", all("main" in b.name for b in rocket.branches.list(search="main")))
    same("one branch", rocket.branches.get(default).name, default)

    first = made.commits.create({
        "branch": "main",
        "commit_message": "Begin",
        "actions": [
            {"action": "create", "file_path": "a.txt", "content": "one\n"},
            {"action": "create", "file_path": "dir/ü b.bin", "content": base64.b64encode(bytes(range(256))).decode(), "encoding": "base64"},
        ],
    })
    same("a first commit", (first.title, first.parent_ids), ("Begin", []))
    second = made.commits.create({
        "branch": "topic/slash",
        "start_branch": "main",
        "commit_message": "Change\n\nbody",
        "author_name": "Someone Else",
        "author_email": "else@acme.example",
        "actions": [
            {"action": "update", "file_path": "a.txt", "content": "two\n"},
            {"action": "move", "file_path": "b.bin", "previous_path": "dir/ü b.bin"},
        ],
    })
    same("its parent and author", (second.parent_ids, second.author_name), ([first.id], "Someone Else"))
    refused(400, made.commits.create, {"branch": "main", "commit_message": "x", "actions": [{"action": "update", "file_path": "none", "content": ""}]})
    blob = next(e for e in made.repository_tree(ref="topic/slash") if e["path"] == "b.bin")
    same("base64 content", made.repository_raw_blob(blob["id"]), bytes(range(256)))
    same("a commit by branch", made.commits.get("topic/slash").id, second.id)
    same("stats", made.commits.get(second.id).stats["total"], 2)
    diff = second.diff(get_all=True)
    same("a diff", sorted((d["new_path"], d["renamed_file"]) for d in diff), [("a.txt", False), ("b.bin", True)])
    same("refs", [r["name"] for r in second.refs("branch")], ["topic/slash"])
    same("a log of a path", [c.id for c in made.commits.list(query_parameters={"ref_name": "topic/slash", "path": "a.txt"})], [second.id, first.id])
    compared = made.repository_compare("main", "topic/slash")
    same("a comparison", ([c["id"] for c in compared["commits"]], len(compared["diffs"])), ([second.id], 2))
    made.commits.create({"branch": "main", "commit_message": "Other", "actions": [{"action": "create", "file_path": "c.txt", "content": "c"}]})
    second.cherry_pick(branch="main")
    true("a cherry-picked commit", made.commits.get("main").message.startswith("Change"))
    second.comments.create({"note": "on a line", "path": "a.txt", "line": 1, "line_type": "new"})
    same("comments", [(c.note, c.path, c.line) for c in second.comments.list()], [("on a line", "a.txt", 1)])
    second.statuses.create({"state": "success", "name": "check", "target_url": "https://ci.example/1", "coverage": 91.5, "ref": "topic/slash"})
    same("statuses", [(s.name, s.status, s.coverage) for s in second.statuses.list()], [("check", "success", 91.5)])

    made.branches.create({"branch": "to-drop", "ref": "main"})
    refused(400, made.branches.create, {"branch": "to-drop", "ref": "main"})
    made.branches.delete("to-drop")
    made.branches.create({"branch": "done", "ref": "main"})
    made.commits.create({"branch": "main", "commit_message": "On", "actions": [{"action": "create", "file_path": "d.txt", "content": "d"}]})
    made.delete_merged_branches()
    refused(404, made.branches.get, "done")

    tag = made.tags.create({"tag_name": "v1.0", "ref": "main", "message": "One"})
    same("an annotated tag", (tag.name, tag.message), ("v1.0", "One"))
    same("tags", [t.name for t in made.tags.list()], ["v1.0"])
    same("one tag", made.tags.get("v1.0").commit["id"], made.commits.get("main").id)
    made.tags.delete("v1.0")
    refused(404, made.tags.get, "v1.0")


def archives():
    rocket = root.projects.get("acme/rocket-ui")
    readme = next(entry for entry in rocket.repository_tree(get_all=True) if entry["path"] == "README.md")
    raw = rocket.repository_raw_blob(readme["id"])
    archive = rocket.repository_archive(sha=rocket.default_branch, format="tar.gz")
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        inside = [name for name in tar.getnames() if name.endswith("/README.md") and name.count("/") == 1]
        same("the README in the archive", tar.extractfile(inside[0]).read(), raw)
    with zipfile.ZipFile(io.BytesIO(rocket.repository_archive(format="zip"))) as file:
        true("a zip archive", any(name.endswith("/README.md") for name in file.namelist()))


def requests(made):
    true("one's own requests", all(m.author["username"] == "ada" for m in ada.mergerequests.list()))
    true("requests of all", len(root.mergerequests.list(scope="all", state="opened")) > 0)
    rocket = root.projects.get("acme/rocket-ui")
    by_iid = rocket.mergerequests.list(iids=[42])
    same("requests by number", [m.iid for m in by_iid], [42])
    mr = rocket.mergerequests.get(42)
    true("participants", len(mr.participants()) > 0)
    true("commits of a request", all(c.id for c in mr.commits()))
    changes = mr.changes()
    same("changes of a request", changes["changes_count"], str(len(changes["changes"])))
    true("pipelines of a request", all({"id", "sha", "ref", "status"} <= set(p.attributes) for p in mr.pipelines.list()))

    new = made.mergerequests.create({"source_branch": "topic/slash", "target_branch": "main", "title": "Bring it", "labels": ["a", "b"], "description": "d"})
    same("a created request", (new.iid, new.state, sorted(new.labels)), (1, "opened", ["a", "b"]))
    refused(409, made.mergerequests.create, {"source_branch": "topic/slash", "target_branch": "main", "title": "again"})
    new.title = "Bring it in"
    new.state_event = "close"
    new.save()
    same("a closed request", (new.title, new.state), ("Bring it in", "closed"))

    notes(new.notes)


def notes(of):
    note = of.create({"body": "first words"})
    true("a note is listed", note.id in [n.id for n in of.list(get_all=True)])
    same("a note", of.get(note.id).id, note.id)
    note.body = "other words"
    note.save()
    same("a changed note", next(n.body for n in of.list(get_all=True) if n.id == note.id), "other words")
    refused(400, of.create, {"body": ""})
    note.delete()
    true("a deleted note", note.id not in [n.id for n in of.list(get_all=True)])


def other_notes(snippet):
    issue = root.search("issues", "e", get_all=False)[0]
    notes(root.projects.get(issue["project_id"], lazy=True).issues.get(issue["iid"], lazy=True).notes)
    notes(snippet.notes)
    acme = root.groups.get("acme")
    notes(gitlab.v4.objects.GroupEpic(acme.epics, {"id": 1, "iid": 1, "group_id": acme.id}).notes)


def review():
    mr = ada.projects.get("acme/rocket-ui").mergerequests.get(42)
    refs = mr.diff_refs
    path = next(change["new_path"] for change in mr.changes()["changes"] if change["new_file"])
    position = {**refs, "position_type": "text", "old_path": path, "new_path": path, "new_line": 1}
    thread = mr.discussions.create({"body": "On a line.", "position": position})
    note = thread.attributes["notes"][0]
    same("a thread on a line", (note["type"], note["position"]["new_line"], note["resolved"]), ("DiffNote", 1, False))
    thread.notes.create({"body": "A reply."})
    thread.resolved = True
    thread.save()
    thread = next(t for t in mr.discussions.list(get_all=True) if t.id == thread.id)
    same("a resolved thread", [n["resolved"] for n in thread.attributes["notes"]], [True, True])
    refused(400, mr.discussions.create, {"body": "Nowhere.", "position": {**position, "new_line": 9999}})

    draft = mr.draft_notes.create({"note": "Later."})
    true("a draft is listed", draft.id in [d.id for d in mr.draft_notes.list()])
    draft.note = "Later, and better."
    draft.save()
    draft.publish()
    true("a published draft is gone", draft.id not in [d.id for d in mr.draft_notes.list()])
    mr.draft_notes.create({"note": "With the others."})
    mr.draft_notes.bulk_publish()
    same("no draft is left", mr.draft_notes.list(), [])
    bodies = {n["body"] for t in mr.discussions.list(get_all=True) for n in t.attributes["notes"]}
    true("what was published", {"Later, and better.", "With the others."} <= bodies)
    true("versions", len(mr.diffs.list()) > 0)
    true("reviewers", len(mr.reviewer_details.list()) > 0)
    true("approvals", mr.approvals.get().approved_by)
    for on in (mr, next(n for n in mr.notes.list(get_all=True) if not n.system)):
        award = on.awardemojis.create({"name": "tada"})
        true("a reaction is listed", award.id in [a.id for a in on.awardemojis.list(get_all=True)])
        refused(404, on.awardemojis.create, {"name": "tada"})
        award.delete()
        true("a removed reaction", award.id not in [a.id for a in on.awardemojis.list(get_all=True)])


def planning():
    rocket = ada.projects.get("acme/rocket-ui")
    label = rocket.labels.create({"name": "from outside", "color": "#8899aa"})
    true("a label is listed", "from outside" in [made.name for made in rocket.labels.list(get_all=True)])
    milestone = rocket.milestones.create({"title": "Someday"})
    issue = rocket.issues.create({"title": "From outside", "labels": ["from outside"], "milestone_id": milestone.id})
    same("a created issue", (issue.labels, issue.milestone["title"], issue.state), (["from outside"], "Someday", "opened"))
    true("a filter of issues", issue.iid in [i.iid for i in rocket.issues.list(labels=["from outside"], get_all=True)])
    issue.state_event = "close"
    issue.save()
    same("a closed issue", issue.state, "closed")
    thread = issue.discussions.create({"body": "A thread."})
    thread.notes.create({"body": "A reply."})
    milestone.state_event = "close"
    milestone.save()
    same("a closed milestone", milestone.state, "closed")
    label.delete()
    milestone.delete()
    todos = ada.todos.list(get_all=True)
    true("to-dos", todos)
    todos[0].mark_as_done()
    ada.todos.mark_all_as_done()
    same("nothing to do", ada.todos.list(), [])


def snippets(made):
    snippet = made.snippets.create({"title": "S", "file_name": "s.py", "content": "print(1)\n", "visibility": "private"})
    same("a created snippet", (snippet.title, snippet.file_name), ("S", "s.py"))
    same("its text", snippet.content(), b"print(1)\n")
    snippet.title = "T"
    snippet.save()
    same("a changed snippet", made.snippets.get(snippet.id).title, "T")
    same("snippets", [s.id for s in made.snippets.list()], [snippet.id])
    true("who sent it", "user_agent" in snippet.user_agent_detail())
    other_notes(snippet)
    snippet.delete()
    refused(404, made.snippets.get, snippet.id)


def jobs():
    rocket = root.projects.get("acme/rocket-ui")
    every = rocket.jobs.list(get_all=True)
    same("ids fall", [j.id for j in every], sorted((j.id for j in every), reverse=True))
    with_files = next(j for j in every if getattr(j, "artifacts_file", None) and j.status == "success")
    same("one job", rocket.jobs.get(with_files.id).name, with_files.name)
    pipeline = rocket.pipelines.get(with_files.pipeline["id"], lazy=True)
    true("jobs of a pipeline", with_files.id in [j.id for j in pipeline.jobs.list(get_all=True, include_retried=True)])
    archive = zipfile.ZipFile(io.BytesIO(with_files.artifacts()))
    name = next(name for name in archive.namelist() if not name.endswith("/"))
    same("one artifact", with_files.artifact(name), archive.read(name))
    same("artifacts of a ref", zipfile.is_zipfile(io.BytesIO(rocket.artifacts.download(ref_name=with_files.ref, job=with_files.name))), True)
    true("a trace", len(with_files.trace()) > 0)
    with_files.keep_artifacts()
    true("jobs of a state", all(j.status == "manual" for j in rocket.jobs.list(scope="manual", get_all=True)))
    manual = rocket.jobs.list(scope="manual", get_all=True)[0]
    manual.play()
    true("a played job", rocket.jobs.get(manual.id).status != "manual")
    rocket.jobs.get(manual.id).cancel()
    same("a canceled job", rocket.jobs.get(manual.id).status, "canceled")
    again = rocket.jobs.get(manual.id).retry()
    true("a retried job", again["id"] != manual.id)
    failed = next(j for j in every if j.status == "failed")
    failed.erase()
    refused(404, rocket.jobs.get, 999999)


def deployments():
    rocket = root.projects.get("acme/rocket-ui")
    every = rocket.deployments.list(get_all=True)
    same("ids rise", [d.id for d in every], sorted(d.id for d in every))
    same("one deployment", rocket.deployments.get(every[0].id).sha, every[0].sha)


def runners(made):
    every = root.runners_all.list(get_all=True)
    true("runners", len(every) > 2)
    true("paused ones", all(not r.active for r in root.runners_all.list(scope="paused")))
    root.runners.list()
    details = [root.runners.get(runner.id) for runner in every]
    specific = next(d for d in details if not d.is_shared and not getattr(d, "locked", False))
    detail = root.runners.get(specific.id)
    detail.description = "renamed by a client"
    detail.tag_list = ["a", "b"]
    detail.save()
    detail = root.runners.get(specific.id)
    same("a changed runner", (detail.description, detail.tag_list), ("renamed by a client", ["a", "b"]))
    true("jobs of a runner", any(detail.jobs.list(get_all=False) for detail in details))
    same("an enabled runner", made.runners.create({"runner_id": specific.id}).id, specific.id)
    true("runners of a project", specific.id in [r.id for r in made.runners.list(get_all=True)])
    made.runners.delete(specific.id)
    true("a disabled runner", specific.id not in [r.id for r in made.runners.list(get_all=True)])
    root.runners.delete(every[-1].id)
    refused(404, root.runners.get, every[-1].id)


def today():
    rocket = ada.projects.get("acme/rocket-ui")
    release = rocket.releases.create({"tag_name": "v99", "ref": "main", "name": "Ninety-nine"})
    true("a release is listed", release.tag_name in [r.tag_name for r in rocket.releases.list(get_all=True)])
    refused(409, rocket.releases.create, {"tag_name": "v99", "name": "Again"})
    same("a changed release", rocket.releases.update("v99", {"name": "99"})["name"], "99")
    link = rocket.releases.get("v99", lazy=True).links.create({"name": "notes", "url": "https://example.com/notes"})
    link.name = "read me"
    link.save()
    links = rocket.releases.get("v99", lazy=True).links
    same("a changed link", [made.name for made in links.list(get_all=True)], ["read me"])
    link.delete()
    rocket.releases.delete("v99")
    true("a deleted release", "v99" not in [r.tag_name for r in rocket.releases.list(get_all=True)])

    environment = rocket.environments.get(rocket.environments.list(get_all=True)[0].id)
    true("what runs in an environment", environment.last_deployment["sha"])
    environment.stop()
    same("a stopped environment", rocket.environments.get(environment.id).state, "stopped")
    refused(400, environment.stop)

    rule = rocket.protectedbranches.create({"name": "hotfix/*", "push_access_level": 0, "merge_access_level": 30})
    same("nobody pushes", rule.push_access_levels[0]["access_level"], 0)
    true("a rule is listed", "hotfix/*" in [r.name for r in rocket.protectedbranches.list(get_all=True)])
    refused(409, rocket.protectedbranches.create, {"name": "hotfix/*"})
    rule.allow_force_push = True
    rule.save()
    rules = {r.name: r.allow_force_push for r in rocket.protectedbranches.list(get_all=True)}
    same("a changed rule", rules["hotfix/*"], True)
    rocket.protectedbranches.delete("hotfix/*")
    refused(404, rocket.protectedbranches.delete, "hotfix/*")

    gus = ada.users.list(username="gus")[0].id
    for owner in [rocket, ada.groups.get("acme")]:
        member = owner.members.create({"user_id": gus, "access_level": 20, "expires_at": "2999-01-31"})
        refused(409, owner.members.create, {"user_id": gus, "access_level": 20})
        member.access_level = 30
        member.save()
        true("a member is listed", (gus, 30) in [(m.id, m.access_level) for m in owner.members.list(get_all=True)])
        true("among all", gus in [m.id for m in owner.members_all.list(get_all=True)])
        member.delete()
        true("a removed member", gus not in [m.id for m in owner.members.list(get_all=True)])

    fork = rocket.forks.create({"name": "Of a client", "path": "of-a-client"})
    same("a fork", (fork.forked_from_project["id"], fork.path), (rocket.id, "of-a-client"))
    refused(409, rocket.forks.create, {"name": "Of a client", "path": "of-a-client"})
    rocket.unstar()
    rocket.star()
    true("languages", "Rust" in rocket.languages())
    blame = rocket.files.blame(file_path="Cargo.toml", ref="main")
    text = rocket.files.blame(file_path="Cargo.toml", ref="main")[0]["lines"][0]
    true("blame", blame[0]["commit"]["id"] and text == "[package]")

    commit = rocket.commits.list(get_all=False)[0]
    true("requests of a commit", isinstance(commit.merge_requests(), list))
    refused(404, commit.signature)
    everyone = {m.username for m in rocket.members.list(get_all=True)} | {m.username for m in rocket.members_all.list(get_all=True)}
    true("members", "ada" in everyone)

    for pipeline in rocket.pipelines.list(get_all=True)[:5]:
        pipeline.bridges.list(get_all=True)
        pipeline.variables.list(get_all=True)
        same("a test report", pipeline.test_report.get().total_count, pipeline.test_report_summary.get().total["count"])

    issue = rocket.issues.list(state="opened", get_all=False)[0]
    true("people of an issue", len(issue.participants()) > 0)
    true("requests of an issue", isinstance(issue.related_merge_requests() + issue.closed_by(), list))
    same("an estimate", issue.time_estimate("3h30m")["human_time_estimate"], "3h 30m")
    same("time spent", issue.add_spent_time("1h")["total_time_spent"], 3600)
    same("no time spent", issue.reset_spent_time()["total_time_spent"], 0)
    same("no estimate", issue.reset_time_estimate()["time_estimate"], 0)
    other = rocket.issues.create({"title": "Linked"})
    source, target = issue.links.create({"target_project_id": rocket.id, "target_issue_iid": other.iid, "link_type": "blocks"})
    same("the ends of a link", (source.iid, target.iid), (issue.iid, other.iid))
    link = issue.links.list(get_all=True)[0]
    same("a link", (link.iid, link.link_type), (other.iid, "blocks"))
    issue.links.delete(link.issue_link_id)
    same("no link", issue.links.list(get_all=True), [])
    note = issue.notes.create({"body": "So it is."})
    for on in (issue, note):
        award = on.awardemojis.create({"name": "eyes"})
        true("a reaction is listed", award.id in [a.id for a in on.awardemojis.list(get_all=True)])
        award.delete()
    thread = issue.discussions.create({"body": "Why?"})
    thread.notes.create({"body": "Because."})
    issue.labels = []
    issue.save()
    issue.add_labels = "bug"
    issue.save()
    same("a label that is added", rocket.issues.get(issue.iid).labels, ["bug"])

    snippet = rocket.snippets.create({"title": "T", "file_name": "f", "content": "x", "code": "x", "visibility": "public"})
    thread = snippet.discussions.create({"body": "Why?"})
    thread.notes.create({"body": "Because."})
    note = snippet.notes.create({"body": "Nice."})
    award = note.awardemojis.create({"name": "eyes"})
    true("a reaction to a note on a snippet", award.id in [a.id for a in note.awardemojis.list(get_all=True)])
    award.delete()
    true("the version", ada.version()[0])
    same("one's own token", ada.personal_access_tokens.get("self").scopes, ["api"])


def decisions():
    rocket = ada.projects.get("acme/rocket-ui")
    for branch, path in [("outside/one", "one.txt"), ("outside/two", "two.txt")]:
        action = {"action": "create", "file_path": path, "content": path}
        rocket.commits.create({"branch": branch, "start_branch": "main", "commit_message": "Add it", "actions": [action]})
    make = lambda branch: rocket.mergerequests.create({"source_branch": branch, "target_branch": "main", "title": branch})
    mr = make("outside/one")
    again = lambda: rocket.mergerequests.get(mr.iid)
    again().approve()
    same("who approved", [a["user"]["username"] for a in mr.approvals.get().approved_by], ["ada"])
    refused(304, again().approve)
    again().unapprove()
    same("nobody approves", mr.approvals.get().approved_by, [])
    true("rules", isinstance(mr.approval_state.get().rules, list))
    draft = mr.draft_notes.create({"note": "Never."})
    draft.delete()
    same("a deleted draft", mr.draft_notes.list(), [])
    pipeline = rocket.pipelines.create({"ref": "outside/one"})
    mr.merge(merge_when_pipeline_succeeds=True)
    mr.cancel_merge_when_pipeline_succeeds()
    true("no auto-merge", not rocket.mergerequests.get(mr.iid).merge_when_pipeline_succeeds)
    pipeline.cancel()
    same("a canceled pipeline", rocket.pipelines.get(pipeline.id).status, "canceled")
    pipeline.retry()
    true("a retried pipeline", rocket.pipelines.get(pipeline.id).status in ("pending", "running", "created"))
    refused(405, mr.merge)
    again().approve()
    mr.merge()
    same("a merged request", rocket.mergerequests.get(mr.iid).state, "merged")
    refused(405, mr.merge)
    mr = make("outside/two")
    mr.rebase()
    same("a rebased request", rocket.mergerequests.get(mr.iid, include_rebase_in_progress=True).rebase_in_progress, False)
    root.projects.get("acme/rocket-ui").pipelines.delete(pipeline.id)
    refused(404, rocket.pipelines.get, pipeline.id)


def group_planning():
    acme = root.groups.get("acme")
    rocket = root.projects.get("acme/rocket-ui")
    acme.labels.create({"name": "for all", "color": "#8899aa"})
    true("a label of a group", "for all" in [made.name for made in acme.labels.list(get_all=True)])
    acme.labels.delete("for all")
    true("a deleted label", "for all" not in [made.name for made in acme.labels.list(get_all=True)])

    milestone = acme.milestones.create({"title": "Together"})
    milestone.title = "All together"
    milestone.save()
    true("a renamed milestone", "All together" in [made.title for made in acme.milestones.list(get_all=True)])
    issue = rocket.issues.create({"title": "Of the milestone", "milestone_id": milestone.id})
    same("issues of a milestone", [found.title for found in milestone.issues()], ["Of the milestone"])
    same("requests of a milestone", [found.title for found in milestone.merge_requests()], [])
    own = rocket.milestones.create({"title": "Alone"})
    true("milestones of a project", own.id in [made.id for made in rocket.milestones.list(get_all=True)])
    same("issues of a milestone of a project", list(own.issues()), [])
    same("requests of a milestone of a project", list(own.merge_requests()), [])

    true("issues of a group", issue.id in [found.id for found in acme.issues.list(get_all=True)])
    true("one's own issues", issue.id in [found.id for found in root.issues.list(get_all=True)])
    thread = issue.discussions.create({"body": "Why?"})
    true("threads of an issue", thread.id in [found.id for found in issue.discussions.list(get_all=True)])
    snippet = rocket.snippets.create({"title": "S", "file_name": "f", "content": "x", "code": "x", "visibility": "public"})
    thread = snippet.discussions.create({"body": "Why?"})
    true("threads of a snippet", thread.id in [found.id for found in snippet.discussions.list(get_all=True)])
    issue.delete()
    refused(404, rocket.issues.get, issue.iid)
    milestone.delete()
    true("a deleted milestone", milestone.id not in [made.id for made in acme.milestones.list(get_all=True)])

    true("a raw file", rocket.files.raw(file_path="Cargo.toml", ref="main").startswith(b"[package]"))
    true("an archive", len(rocket.repository_archive()) > 100)


def search():
    true("projects", "acme/rocket-ui" in [p["path_with_namespace"] for p in root.search("projects", "rocket")])
    for scope in ["issues", "merge_requests", "milestones", "snippet_titles"]:
        root.search(scope, "e", get_all=False)
    acme = root.groups.get("acme")
    true("in a group", len(acme.search("projects", "rocket")) > 0)
    rocket = root.projects.get("acme/rocket-ui")
    hit = rocket.search("blobs", "fn ", get_all=False)[0]
    true("in files", "fn " in hit["data"] and hit["startline"] >= 1)
    refused(400, root.search, "nonsense", "e")
    refused(401, anyone.search, "projects", "e")


def administration():
    hook = root.hooks.create({"url": "http://127.0.0.1:9/hook", "token": "s3cret", "push_events": True})
    true("no secret comes back", "token" not in hook.attributes)
    true("hooks", hook.id in [h.id for h in root.hooks.list()])
    same("a test of a hook", root.hooks.get(hook.id).attributes["event_name"], "project_create")
    hook.delete()
    true("a deleted hook", hook.id not in [h.id for h in root.hooks.list()])
    refused(403, ada.hooks.list)
    true("a license", "licensee" in root.get_license())
    same("a new license", root.set_license(ready["license"])["licensee"]["Name"] != "", True)
    refused(400, root.set_license, "nonsense")
    settings = ada.notificationsettings.get()
    settings.level = "participating"
    settings.save()
    same("new settings", ada.notificationsettings.get().level, "participating")


def steps():
    yield users
    yield groups
    yield projects
    made = root.projects.create({"name": "Client Work", "visibility": "public"})
    for step in [repository, requests, snippets, runners]:
        yield lambda step=step: step(made)
    for step in [review, planning, archives, jobs, deployments, today, group_planning, decisions, search, administration]:
        yield step


failures = 0
for step in steps():
    try:
        step()
    except Exception:  # run every step and report each failure
        failures += 1
        traceback.print_exc()
print(f"python-gitlab {gitlab.__version__}: {failures} steps failed")
sys.exit(1 if failures else 0)
