//! Bodies of errors, as old and new servers write them.

use crate::client::client;
use crate::scripted::{Scripted, answer};
use labscope::api::draft_notes::ListDraftNotes;
use labscope::api::error::{Error, Fault, error_message};
use labscope::api::projects::GetProject;
use labscope::api::users::GetCurrentUser;

#[tokio::test]
async fn a_web_page_in_place_of_a_404_is_not_from_a_gitlab_server() {
    // As `python3 -m http.server` of Python 3.11 answers.
    let page = answer(404, "<!DOCTYPE HTML><html><head><title>Error response</title></head></html>");
    let server = Scripted::start([page.with("content-type", "text/html;charset=utf-8")]).await;
    let error = client(&server).call(&GetCurrentUser::default()).await.expect_err("a web page");
    assert_eq!(error.title(), "Unexpected reply");
    assert_eq!(error.message(), "404 with a web page instead of JSON: Error response");
    assert!(error.advice().contains("check --host"));
}

#[test]
fn the_message_of_an_error_is_found_in_every_format() {
    for (body, words) in [
        (r#"{"message":"404 Project Not Found"}"#, "404 Project Not Found"),
        (r#"{"message":"403 Forbidden  - Job is not retryable"}"#, "403 Forbidden - Job is not retryable"),
        (r#"{"error":"title is missing, body is missing"}"#, "title is missing, body is missing"),
        (r#"{"message":["Cannot Create: it exists"]}"#, "Cannot Create: it exists"),
        (
            r#"{"message":{"fingerprint":["has already been taken"],"key":["has already been taken","is bad"]}}"#,
            "fingerprint has already been taken; key has already been taken, is bad",
        ),
        (r#"{"message":{"base":["Only once"]}}"#, "Only once"),
        (
            r#"{"message":{"error":"Scope not supported without Elasticsearch!"}}"#,
            "Scope not supported without Elasticsearch!",
        ),
        (r#"{"error":["one","two"]}"#, "one; two"),
        (r#"{"message":"branch is required","error":"branch is required"}"#, "branch is required"),
        (r#"{"error":"invalid_token","error_description":"Token is expired.","scope":"api"}"#, "Token is expired."),
        ("Retry later\n", "Retry later"),
        ("<html><head><TITLE>\n502 Bad\u{1b}[31m Gateway</title></head><body>nginx", "502 Bad [31m Gateway"),
        ("<html><body><h1 class=x>Oops</h1>", "Oops"),
        ("<html", ""),
        ("", ""),
        ("null", ""),
        (
            r#"{"message":"Sorry.\n       Try it in git.\n","error_code":"conflict"}"#,
            "Sorry. Try it in git. (conflict)",
        ),
        (r#"{"message":null,"error":null}"#, ""),
        (r#"{"message":null,"error":"invalid_token"}"#, "invalid_token"),
        (r#"{"message":{},"error":"title is missing"}"#, "title is missing"),
        (r#"{"message":{"name":["has already been taken"],"limit_reached":[]}}"#, "name has already been taken"),
        (r#"{"name":["is too long"],"limit_reached":[],"base":null}"#, "name is too long"),
    ] {
        assert_eq!(error_message(body.as_bytes()), words, "{body}");
    }
}

#[test]
fn an_error_shows_the_request_the_reply_and_what_to_do() {
    let error = Error { tried: "GET /projects/9".into(), fault: Fault::Missing("404 Project Not Found".into()) };
    assert_eq!(
        error.to_string(),
        "Not found: 404 Project Not Found (GET /projects/9). \
         It may have been moved or deleted, or be hidden from your account."
    );
    let older = "API V3 is no longer supported. Use API V4 instead.";
    let error = Error::from_status("GET /version".into(), 410, older.into(), None);
    assert!(error.advice().ends_with("labscope needs version 4 of GitLab's REST API."), "{error}");
}

#[test]
fn the_status_is_not_repeated_and_replaces_a_missing_message() {
    for (status, words, said) in [
        (404, "", "404 Not Found"),
        (502, "502 Bad Gateway", "502 Bad Gateway"),
        (409, "Release already exists", "409: Release already exists"),
        (599, "", "599 without a message"),
    ] {
        let error = Error::from_status("GET /x".into(), status, words.into(), None);
        assert_eq!(error.message(), said);
    }
}

#[test]
fn the_reason_of_a_refusal_decides_what_to_do() {
    let (none, changed, taken, exists) =
        ("", "Somebody may have changed it first", "Choose another one", "Refresh to see");
    let (owner, input, sign_in) = ("You don't have permission", "Change the input", "Sign in on the server's web page");
    for (status, body, advice) in [
        (400, r#"{"message":"400 Bad request - Unplayable Job"}"#, none),
        (400, r#"{"message":"400 (Bad request) \"Unplayable Job\" not given"}"#, none),
        (400, r#"{"message":"400 (Bad request) \"title\" not given"}"#, input),
        (400, r#"{"error":"title is missing"}"#, input),
        (400, r#"{"error":"scope does not have a valid value"}"#, input),
        (400, r#"{"message":{"title":["can't be blank"]}}"#, input),
        (400, r#"{"message":{"key":["(STAGE) has already been taken"]}}"#, taken),
        (
            400,
            r#"{"message":{"access_level":["should be greater than or equal to Owner inherited membership"]}}"#,
            input,
        ),
        (400, r#"{"message":"Branch already exists"}"#, exists),
        (400, r#"{"message":"Tag v1 already exists"}"#, exists),
        (400, r#"{"message":"Target foo is invalid"}"#, input),
        (400, r#"{"message":"A file with this name already exists"}"#, exists),
        (
            400,
            r#"{"message":"You are attempting to update a file that has changed since you started editing it."}"#,
            changed,
        ),
        (400, r#"{"message":"This suggestion has already been applied."}"#, none),
        (400, r#"{"message":"Can't apply as this line was changed in a more recent version."}"#, changed),
        (400, r#"{"message":"Can't apply as the source branch was deleted."}"#, none),
        (400, r#"{"message":"Merge request is not mergeable"}"#, none),
        // Branches, tags, commits and files.
        (400, r#"{"message":"Branch name is invalid"}"#, input),
        (400, r#"{"message":"Failed to create branch 'a b': invalid reference name 'main'"}"#, input),
        (
            400,
            r#"{"message":"Failed to create branch 'a/b': Branch name conflicts with existing branch hierarchy."}"#,
            none,
        ),
        (400, r#"{"message":"Failed to remove branch"}"#, none),
        (400, r#"{"message":"Tag name invalid"}"#, input),
        (400, r#"{"message":"Target is empty"}"#, input),
        (400, r#"{"message":"You are not allowed to push into this branch"}"#, owner),
        (400, r#"{"message":"You can only create or edit files when you are on a branch"}"#, none),
        (
            400,
            r#"{"message":"A branch called 'x' already exists. Switch to that branch in order to make changes"}"#,
            exists,
        ),
        (400, r#"{"message":"A file with this name doesn't exist"}"#, none),
        (
            400,
            r#"{"message":"Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a more recent commit may have updated some of its content."}"#,
            none,
        ),
        (400, r#"{"message":"GitLab: Author 'a@b' is not a member of team"}"#, none),
        (405, r#"{"message":"You dont have push access to repo"}"#, owner),
        (404, r#"{"message":"No such branch"}"#, none),
        // Pipelines, jobs and runners.
        (400, r#"{"message":{"base":["Reference not found"]}}"#, input),
        (400, r#"{"message":{"base":["Insufficient permissions to create a new pipeline"]}}"#, owner),
        (400, r#"{"message":{"base":["You do not have sufficient permission to run a pipeline on 'main'."]}}"#, owner),
        (400, r#"{"message":{"base":["Missing CI config file"]}}"#, none),
        (400, r#"{"message":{"base":["No stages / jobs for this pipeline."]}}"#, none),
        (400, r#"{"message":{"base":["Pipelines are disabled!"]}}"#, none),
        (400, r#"{"error":"status does not have a valid value"}"#, input),
        (403, r#"{"message":"403 Forbidden - Runner is locked"}"#, none),
        (403, r#"{"message":"403 Forbidden - No access granted"}"#, none),
        // Validations of variables, labels, milestones, keys, members and projects.
        (400, r#"{"message":{"key":["can contain only letters, digits and '_'."]}}"#, input),
        (400, r#"{"message":{"value":["is invalid"]}}"#, input),
        (400, r#"{"message":{"base":["Maximum number of project variables (200) exceeded"]}}"#, none),
        (400, r#"{"message":{"color":["must be a valid color code"]}}"#, input),
        (400, r#"{"message":{"due_date":["must be greater than start date"]}}"#, input),
        (
            400,
            r#"{"message":{"fingerprint_sha256":["cannot be generated"],"key":["type is forbidden. Must be RSA"]}}"#,
            none,
        ),
        (400, r#"{"message":{"access_level":["is not included in the list"]}}"#, input),
        (400, r#"{"message":{"visibility_level":["public is not allowed in a private group."]}}"#, input),
        (400, r#"{"error":"files, content are missing, exactly one parameter must be provided"}"#, input),
        (400, r#"{"error":"author_id, author_username are mutually exclusive"}"#, input),
        (400, "<html><head><title>400 No required SSL certificate was sent</title></head>", "Set client_cert"),
        (400, r#"{"message":"Something that nobody foresaw."}"#, none),
        (400, "", input),
        (403, r#"{"message":"403 Forbidden - Your primary email address is not confirmed."}"#, sign_in),
        (422, r#"{"message":"The milestone is frozen"}"#, none),
        (422, r#"{"message":"422 Unprocessable Entity"}"#, input),
        (403, r#"{"message":"403 Forbidden"}"#, owner),
        (403, r#"{"message":"403 Forbidden - You are not allowed to push into this branch"}"#, owner),
        (403, r#"{"message":"403 Forbidden - Cannot push to source branch"}"#, owner),
        (403, r#"{"message":"403 Forbidden  - Must be admin to use sudo"}"#, owner),
        (403, r#"{"message":"403 Forbidden  - Job is not retryable"}"#, none),
        (403, r#"{"message":"403 Forbidden - Job is not retryable"}"#, none),
        (403, r#"{"message":"403 Forbidden - Job is not erasable!"}"#, none),
        (403, r#"{"message":"403 Forbidden - Source branch does not exist"}"#, none),
        (
            403,
            r#"{"message":"403 Forbidden - Only one project associated with the runner. Please remove the runner instead"}"#,
            none,
        ),
        (403, r#"{"message":"403 Forbidden - Your account has been blocked."}"#, sign_in),
        (403, r#"{"message":"403 Forbidden  - User is blocked"}"#, "Ask an administrator"),
        (404, r#"{"message":"404 Project Not Found"}"#, "It may have been moved"),
        (404, r#"{"message":"404 Not found"}"#, "It may have been moved"),
        (404, r#"{"message":"Tag does not exist"}"#, "It may have been moved"),
        (404, r#"{"message":"404 Feature flag disabled: :dast_runner_site_validation"}"#, none),
        (404, r#"{"message":"404 Award Emoji Name has already been taken Not Found"}"#, taken),
        (405, r#"{"message":"405 Method Not Allowed"}"#, "This server does not support it"),
        (405, r#"{"message":"Tag v1 already exists"}"#, exists),
        (405, r#"{"message":"Protected branch cant be removed"}"#, none),
        (409, r#"{"message":"409 Conflict"}"#, changed),
        (409, r#"{"message":"409 Conflict: Resource lock"}"#, "The server is busy"),
        (409, r#"{"message":"SHA does not match HEAD of source branch: 9f3c2abd"}"#, changed),
        (409, r#"{"message":"Label already exists"}"#, exists),
        (409, r#"{"message":"Member already exists"}"#, exists),
        (409, r#"{"message":"Release already exists"}"#, exists),
        (409, r#"{"message":"Protected branch 'main' already exists"}"#, exists),
        (409, r#"{"message":["Another open merge request already exists for this source branch: !5"]}"#, exists),
        (409, r#"{"message":["Cannot Create: This merge request already exists: [\"Louder\"]"]}"#, exists),
        (409, r#"{"message":"Email has already been taken"}"#, taken),
        (409, r#"{"message":{"name":["has already been taken"],"path":["has already been taken"]}}"#, taken),
        (409, r#"{"message":"Runner was already enabled for this project"}"#, none),
        (409, r#"{"message":"Issue(s) already assigned"}"#, none),
        (409, r#"{"message":"User cannot be removed while is the sole-owner of a group"}"#, none),
        (412, r#"{"message":"412 Precondition Failed"}"#, changed),
        (422, r#"{"error":["You can't use same project/branch for source and target"]}"#, input),
        (422, r#"{"message":"Ref is not specified"}"#, input),
        (422, r#"{"message":{"base":["The project is archived"]}}"#, none),
    ] {
        let message = error_message(body.as_bytes());
        let error = Error::from_status("POST /projects/1/x".into(), status, message, None);
        let said = error.write_advice();
        assert!(
            if advice.is_empty() { said.is_empty() } else { said.starts_with(advice) },
            "{status} {body}: {said:?}"
        );
        assert!(!error.to_string().ends_with(' ') && !error.with_advice(said).ends_with(' '), "{body}");
    }
}

/// GitLab's own errors are JSON.
#[tokio::test]
async fn what_is_in_front_of_the_server_and_refuses_is_not_taken_for_gitlab() {
    let page = |title: &str| format!("<html><head><title>{title}</title></head><body></body></html>");
    for (status, body, words) in [
        (403, page("Just a moment..."), "403: Just a moment"),
        (401, page("401 Authorization Required"), "401 Authorization Required"),
        (403, "Forbidden\n".to_owned(), "403: Forbidden"),
        (405, page("Request Rejected"), "405: Request Rejected"),
        (407, page("Proxy Authentication Required"), "407: Proxy Authentication Required"),
        (431, page(""), "431 Request Header Fields Too Large"),
    ] {
        let server = Scripted::start([answer(status, &body)]).await;
        let error = client(&server).call(&GetCurrentUser::default()).await.expect_err("refused");
        assert_eq!((error.title(), error.message().as_str()), ("Gateway error", words));
        let advice = "A proxy or firewall in front of GitLab does this: ask an administrator.";
        assert_eq!((error.advice(), error.write_advice()), (advice, advice));
    }
    let server = Scripted::start([answer(400, page("400 No required SSL certificate was sent"))]).await;
    let error = client(&server).call(&GetCurrentUser::default()).await.expect_err("refused");
    assert_eq!(error.advice(), "Set client_cert and client_key of the host in the configuration.");
}

/// Apache without `AllowEncodedSlashes NoDecode` answers itself; nginx with a path in `proxy_pass` asks GitLab for another
/// route.
#[tokio::test]
async fn a_proxy_that_decodes_slashes_is_named_and_is_no_verdict_about_the_route() {
    let page = answer(404, "<html><head><title>404 Not Found</title></head></html>").with("content-type", "text/html");
    for refusal in [page, answer(404, r#"{"error":"404 Not Found"}"#)] {
        let server = Scripted::minded(move |asked| match asked.line.contains("%2F") {
            true => refusal.clone(),
            false => answer(404, r#"{"message":"404 Project Not Found"}"#),
        })
        .await;
        let client = client(&server);
        for _ in 0..2 {
            let error = client.call(&GetProject::new(&"acme/rocket".into())).await.expect_err("refused");
            assert_eq!(error.title(), "Gateway error");
            assert!(error.message().contains("AllowEncodedSlashes NoDecode"), "{error}");
        }
        assert_eq!(server.asked().len(), 4, "it is found out once");
        let error = client.call(&GetProject::new(&7_u64.into())).await.expect_err("refused");
        assert!(error.is_missing(), "{error}");
    }
}

/// Servers that lack a route, and those that are not GitLab, answer as before.
#[tokio::test]
async fn a_route_that_is_missing_behind_no_such_proxy_is_missing() {
    let list = ListDraftNotes { id: "acme/rocket".into(), merge_request_iid: 1 };
    for others in [r#"{"message":"404 Project Not Found"}"#, r#"{"error":"404 Not Found"}"#] {
        let server = Scripted::minded(move |asked| match asked.line.contains("draft_notes") {
            true => answer(404, r#"{"error":"404 Not Found"}"#),
            false => answer(404, others),
        })
        .await;
        let error = client(&server).call(&list).await.expect_err("missing");
        assert_eq!(error.title(), "Not supported by this server");
    }
}
