#!/usr/bin/env bash
# @gitbeaker/rest 43.8.0 (npm), a client of the GitLab API: the names of pipeline inputs are rewritten on their way out.
#
# `POST /projects/:id/pipeline` takes `inputs`, an object whose keys are the names that the project's own
# .gitlab-ci.yml gives them under spec:inputs. Such a name is data of a user: GitLab does not fold its case.
# Gitbeaker turns the keys of options into snake_case, at every depth, so it renames the inputs as well:
# "deployTarget" is sent as "deploy_target", and "my-Key" as "my-_key" (a name that nobody wrote). GitLab is asked for
# inputs that the project does not have, and those that it has keep their defaults. Keys in upper case arrive as they
# are. A filter by custom attributes, which the library's types declare (customAttributes: Record<string, string>), asks
# for another attribute in the same way. `variables` of a trigger are left alone by the same release. (Options are those
# of GitLab's own documentation, says the README: it passes on what it does not declare, as the inputs.)
#
# The request is caught by a plain HTTP server on the loopback address. A program like ours that converts the case of
# names must stop where keys are data: inputs, variables, custom attributes, file contents.
#
# Seen:
#   inputs of a pipeline: deploy_target my-_key BIG_KEY
#   inputs of a trigger: deploy_target my-_key BIG_KEY
#   variables of a trigger: deployTarget my-Key BIG_KEY
#   custom attributes of groups: cost_center
#
# Exits with 1 if that changes. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @gitbeaker/rest@43.8.0
cat >run.mjs <<'JS'
import http from 'node:http';
import { Gitlab } from '@gitbeaker/rest';

const sent = [];
const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  sent.push(body || decodeURIComponent(request.url));
  response.setHeader('content-type', 'application/json');
  response.end(request.method === 'GET' ? '[]' : '{"id": 1}');
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const gitlab = new Gitlab({ host: `http://127.0.0.1:${server.address().port}`, token: 'none' });
const names = { deployTarget: 'a', 'my-Key': 'b', BIG_KEY: 'c' };

await gitlab.Pipelines.create(1, 'main', { inputs: names });
await gitlab.PipelineTriggerTokens.trigger(1, 'main', 'none', { inputs: names });
await gitlab.PipelineTriggerTokens.trigger(1, 'main', 'none', { variables: names });
await gitlab.Groups.all({ customAttributes: { costCenter: '7' } });
server.closeAllConnections();
server.close();

console.log('inputs of a pipeline:', ...Object.keys(JSON.parse(sent[0]).inputs));
console.log('inputs of a trigger:', ...Object.keys(JSON.parse(sent[1]).inputs));
console.log('variables of a trigger:', ...[...sent[2].matchAll(/variables\[(.*?)\]/g)].map((found) => found[1]));
console.log('custom attributes of groups:', sent[3].match(/custom_attributes\[(.*?)\]=7/)[1]);
JS
seen=$(node run.mjs)
printf '%s\n' "$seen"
expected='inputs of a pipeline: deploy_target my-_key BIG_KEY
inputs of a trigger: deploy_target my-_key BIG_KEY
variables of a trigger: deployTarget my-Key BIG_KEY
custom attributes of groups: cost_center'
[ "$seen" = "$expected" ] || { echo "gitbeaker sends other names now" >&2; exit 1; }
