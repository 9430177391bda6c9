//! Bodies of errors, as old and new servers write them.

use labscope::api::error::{Error, Fault, error_message};

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
