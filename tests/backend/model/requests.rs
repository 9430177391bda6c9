//! Merge requests in the model.

use super::*;

/// The branches of each project that has code.
const BRANCHES: &[&str] = &["one", "two"];

#[derive(Clone)]
pub struct Request {
    pub project: usize,
    pub iid: u64,
    pub title: String,
    pub author: &'static str,
    source: &'static str,
    state: &'static str,
}

impl Model {
    /// Returns whether the caller can read code and merge requests: guests of a private project cannot.
    fn reads_code(&self, who: &str, project: usize) -> bool {
        self.sees(who, project)
            && (self.level(who, project) >= REPORTER || is_open_to(who, self.projects[project].visibility))
    }

    /// Expects a refusal if the caller cannot read the code.
    fn with_code(&self, who: &str, project: usize, call: Call) -> Call {
        call.within(self.sees(who, project), self.reads_code(who, project))
    }

    fn request(&mut self, project: usize, iid: u64) -> Option<&mut Request> {
        self.requests.iter_mut().find(|request| request.project == project && request.iid == iid)
    }

    /// Returns whether another merge request than `iid` is open for a branch.
    fn has_open(&self, project: usize, source: &str, iid: u64) -> bool {
        self.requests.iter().any(|request| {
            (request.project, request.source) == (project, source) && request.state == "opened" && request.iid != iid
        })
    }

    /// Returns a call that creates or lists merge requests.
    pub fn of_requests(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        let project = a % self.projects.len();
        let at = format!("/projects/{}/merge_requests", self.projects[project].path);
        let url =
            |request: &Request| format!("{}!{}", self.projects[request.project].path.replace("%2F", "/"), request.iid);
        let word = ["slow", "broken", "ugly"][b % 3];
        Some(match what {
            CreateRequest => {
                let (source, title) = (BRANCHES[b % BRANCHES.len()], TITLES[b % 3]);
                // A merged branch has nothing left to merge, and projects of groups are empty.
                let is_of_group = matches!(self.projects[project].namespace, Namespace::Group(_));
                if is_of_group || self.projects[project].merged.contains(source) {
                    return None;
                }
                let form = [("title", title), ("source_branch", source), ("target_branch", "main")];
                let call = Call::write(Method::POST, at, &form).then(move |model, answer| {
                    model.projects[project].requests += 1;
                    let iid = model.projects[project].requests;
                    if number(answer, "iid")? != iid {
                        return Err(format!("the merge request is not number {iid}: {answer}"));
                    }
                    let (title, state) = (title.to_owned(), "opened");
                    model.requests.push(Request { project, iid, title, author: who, source, state });
                    Ok(())
                });
                let call = if self.has_open(project, source, 0) { call.refused(409) } else { call };
                call.within(self.sees(who, project), self.level(who, project) >= DEVELOPER)
            }
            ListRequests => {
                let state = ["opened", "closed", "merged", "all"][b % 4];
                let of = |request: &&Request| request.project == project && (state == "all" || request.state == state);
                let iids = self.requests.iter().filter(of).map(|request| request.iid.to_string());
                let path = format!("{at}?per_page=100&state={state}");
                self.with_code(who, project, Call::read(path).listing("iid", iids))
            }
            _ => {
                let found = |request: &&Request| {
                    self.reads_code(who, request.project) && (what == ListAllRequests || request.title.contains(word))
                };
                let path = match what {
                    ListAllRequests => "/merge_requests?scope=all&per_page=100".to_owned(),
                    _ => format!("/search?scope=merge_requests&search={word}&per_page=100"),
                };
                Call::read(path).listing("web_url", self.requests.iter().filter(found).map(url))
            }
        })
    }

    /// Returns a call on one merge request.
    pub fn on_request(&self, step: Step) -> Option<Call> {
        let Step { who, what, a, b } = step;
        let request = choose(self.requests.iter(), a)?;
        let (project, iid, source, state) = (request.project, request.iid, request.source, request.state);
        let on = On::Request(project, iid);
        let at = format!("/projects/{}/merge_requests/{iid}", self.projects[project].path);
        let level = self.level(who, project);
        let changes = level >= DEVELOPER || request.author == who;
        let call = match what {
            GetRequest => Call::read(at),
            ListCommentsOnRequest => self.list_comments(&at, on),
            CommentOnRequest => Model::comment(&at, on, who),
            EditCommentOnRequest | DeleteCommentOnRequest => {
                self.change_comment(step, &at, on, what == DeleteCommentOnRequest)?
            }
            EditRequest => {
                let title = format!("{} again", TITLES[b % 3]);
                let call = Call::write(Method::PUT, at, &[("title", &title)]).then(move |model, _| {
                    if let Some(request) = model.request(project, iid) {
                        request.title = title;
                    }
                    Ok(())
                });
                if changes { call } else { call.refused(403) }
            }
            CloseRequest => {
                let (event, to) = [("close", "closed"), ("reopen", "opened")][b % 2];
                if self.projects[project].merged.contains(source) {
                    return None;
                }
                let call = Call::write(Method::PUT, at, &[("state_event", event)]).then(move |model, _| {
                    if let Some(request) = model.request(project, iid) {
                        request.state = to;
                    }
                    Ok(())
                });
                match (changes, event, state) {
                    (false, ..) => call.refused(403),
                    (true, "reopen", "closed") if self.has_open(project, source, iid) => call.refused(409),
                    _ => call,
                }
            }
            _ => {
                let call = Call::write(Method::PUT, format!("{at}/merge"), &[]).then(move |model, _| {
                    model.projects[project].merged.insert(source);
                    if let Some(request) = model.request(project, iid) {
                        request.state = "merged";
                    }
                    Ok(())
                });
                match state {
                    _ if level < DEVELOPER => call.refused(401),
                    "opened" => call,
                    _ => call.refused(405),
                }
            }
        };
        Some(self.with_code(who, project, call))
    }

    /// Returns whether a merge request of the server equals that of the model.
    pub fn check_request(&self, shown: &Value) -> Result<(), String> {
        let url = shown["web_url"].as_str().unwrap_or_default();
        let of = |request: &&Request| {
            let path = self.projects[request.project].path.replace("%2F", "/");
            url.contains(&format!("/{path}/")) && shown["iid"] == request.iid
        };
        let request = self.requests.iter().find(of).ok_or_else(|| format!("there is no such request: {shown}"))?;
        let is_it = shown["state"] == request.state
            && shown["title"] == request.title.as_str()
            && shown["author"]["username"] == request.author
            && shown["source_branch"] == request.source;
        let Request { state, title, author, .. } = request;
        if is_it { Ok(()) } else { Err(format!("{state}, {title:?} by {author:?} is {shown}")) }
    }
}
