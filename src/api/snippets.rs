//! Snippets of a project (specification, "Project snippets").

use crate::api::users::User;
use crate::api::{Id, Nothing, Raw, Time};

crate::resource! {
    /// A named piece of text.
    pub struct Snippet {
        id: u64,
        title: String,
        file_name: Option<String>,
        description: Option<String>,
        author: Option<User>,
        updated_at: Option<Time>,
        created_at: Option<Time>,
        web_url: String,
    }
    views {
        /// Whose it is: in search results.
        project_id: u64,
    }
    newer {
        visibility: String,
        raw_url: String,
        files: Vec<SnippetFile>,
    }
}

crate::resource! {
    /// One of the files that a snippet of today may hold.
    pub struct SnippetFile {
        path: String,
        raw_url: String,
    }
}

crate::resource! {
    /// From where and with what a snippet was made.
    pub struct UserAgentDetail {
        user_agent: String,
        ip_address: String,
        /// Servers that run call it `akismet_submitted`.
        #[serde(alias = "akismet_submitted")]
        spam_check_submitted: bool,
    }
}

crate::endpoints! {
    section "Project snippets";

    /// Lists a project's snippets.
    GET "/projects/{id}/snippets" => Vec<Snippet>;
    struct ListSnippets { id: Id }

    /// Reads one snippet.
    GET "/projects/{id}/snippets/{snippet_id}" => Snippet;
    struct GetSnippet { id: Id, snippet_id: u64 }

    /// Creates a snippet. Servers of today call `code` `content`: give both, and each takes its own.
    POST "/projects/{id}/snippets" => Snippet,
    touches [ListSnippets];
    struct CreateSnippet {
        id: Id,
        title: String,
        file_name: String,
        code: String,
        visibility: String,
        description: Option<String>,
        /// What newer servers call `code`.
        content: Option<String>,
    }

    /// Changes a snippet.
    PUT "/projects/{id}/snippets/{snippet_id}" => Snippet,
    touches [ListSnippets, GetSnippet, GetSnippetText];
    struct UpdateSnippet {
        id: Id,
        snippet_id: u64,
        title: Option<String>,
        file_name: Option<String>,
        description: Option<String>,
        code: Option<String>,
        visibility: Option<String>,
        /// What newer servers call `code`.
        content: Option<String>,
    }

    /// Deletes a snippet.
    DELETE "/projects/{id}/snippets/{snippet_id}" => Nothing,
    touches [ListSnippets, GetSnippet, GetSnippetText];
    struct DeleteSnippet { id: Id, snippet_id: u64 }

    /// Reads the text.
    GET "/projects/{id}/snippets/{snippet_id}/raw" => Raw;
    struct GetSnippetText { id: Id, snippet_id: u64 }

    /// Reads from where it was made, for administrators.
    GET "/projects/{id}/snippets/{snippet_id}/user_agent_detail" => UserAgentDetail;
    struct GetUserAgentDetail { id: Id, snippet_id: u64 }
}
