//! Snippets.

use crate::sample::word;
use labscope::api::snippets::*;

requests! {
    ListSnippets { id: 1.into() } => "GET /projects/1/snippets";
    GetSnippet { id: 1.into(), snippet_id: 3 } => "GET /projects/1/snippets/3";
    CreateSnippet {
        id: 1.into(),
        title: "T".into(),
        file_name: "a.rb".into(),
        code: "puts".into(),
        visibility: "private".into(),
        description: word("d"),
        content: None,
    } => "POST /projects/1/snippets | code=puts&description=d&file_name=a.rb&title=T&visibility=private";
    UpdateSnippet { id: 1.into(), snippet_id: 3, title: word("U"), ..UpdateSnippet::default() } =>
        r#"PUT /projects/1/snippets/3 | {"title":"U"}"#;
    UpdateSnippet {
        id: 1.into(),
        snippet_id: 3,
        files: Some(vec![FileChange { action: "delete".into(), file_path: "a.rb".into(), content: None }]),
        ..UpdateSnippet::default()
    } => r#"PUT /projects/1/snippets/3 | {"files":[{"action":"delete","file_path":"a.rb"}]}"#;
    GetSnippetFile { id: 1.into(), snippet_id: 3, r#ref: "HEAD".into(), file_path: "lib/a.rb".into() } =>
        "GET /projects/1/snippets/3/files/HEAD/lib%2Fa.rb/raw";
    DeleteSnippet { id: 1.into(), snippet_id: 3 } => "DELETE /projects/1/snippets/3";
    GetSnippetText { id: 1.into(), snippet_id: 3 } => "GET /projects/1/snippets/3/raw";
    GetUserAgentDetail { id: 1.into(), snippet_id: 3 } => "GET /projects/1/snippets/3/user_agent_detail";
}

samples! {
    Snippet => r#"{"id": 1, "title": "test", "file_name": "add.rb", "description": "Ruby test snippet",
        "author": {"id": 1, "username": "john", "email": "john@example.com", "name": "John Smith", "state": "active",
            "created_at": "2012-05-23T08:00:58Z"},
        "updated_at": "2012-06-28T10:52:04Z", "created_at": "2012-06-28T10:52:04Z", "web_url": "http://h/snippets/1",
        "project_id": 9}"#;
    UserAgentDetail => r#"{"user_agent": "AppleWebKit/537.36", "ip_address": "127.0.0.1",
        "spam_check_submitted": false}"#;
}

#[test]
fn the_alternative_name_of_the_spam_check_is_read() {
    for text in [r#"{"akismet_submitted": true}"#, r#"{"spam_check_submitted": true, "akismet_submitted": true}"#] {
        assert!(serde_json::from_str::<UserAgentDetail>(text).expect("a detail").was_submitted(), "{text}");
    }
}
