//! Snippets of a project (specification, "Project snippets").

use crate::users::User;
use crate::{Id, NoContent, Raw, Time};

crate::resource! {
    /// A snippet of a project.
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
        /// The ID of the project; only in search results.
        project_id: Option<u64>,
    }
    unspecified {
        visibility: Option<String>,
        raw_url: Option<String>,
        files: Option<Vec<SnippetFile>>,
    }
    served {
        imported: Option<bool>,
        imported_from: Option<String>,
    }
}

crate::resource! {
    /// A file of a snippet; on newer servers, a snippet can have several.
    pub struct SnippetFile {
        path: String,
        raw_url: String,
    }
}

crate::input_object! {
    /// A change of a file of a snippet: `create`, `update` or `delete`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct FileChange {
        pub action: String,
        pub file_path: String,
        pub content: Option<String>,
    }
}

impl Snippet {
    /// Returns the paths of its files if it has several.
    pub fn several_files(&self) -> &[SnippetFile] {
        self.files.as_deref().filter(|files| files.len() > 1).unwrap_or_default()
    }
}

crate::resource! {
    /// The user agent and IP address that created a snippet.
    pub struct UserAgentDetail {
        user_agent: String,
        ip_address: String,
    }
    views {
        /// Whether the snippet was submitted to a spam check.
        spam_check_submitted: Option<bool>,
    }
    unspecified {
        /// The name of real servers for `spam_check_submitted`.
        akismet_submitted: Option<bool>,
    }
}

impl UserAgentDetail {
    /// Returns whether the snippet was submitted to a spam check.
    pub fn was_submitted(&self) -> bool {
        self.spam_check_submitted.or(self.akismet_submitted) == Some(true)
    }
}

crate::endpoints! {
    section "Project snippets";

    /// Lists the snippets of a project.
    GET "/projects/{id}/snippets" => Vec<Snippet>, about Snippets;
    struct ListSnippets { id: Id }

    /// Gets a single snippet.
    GET "/projects/{id}/snippets/{snippet_id}" => Snippet, about Snippets;
    struct GetSnippet { id: Id, snippet_id: u64 }

    /// Creates a snippet. Current servers call `code` `content`: set both, and each server uses its own.
    POST "/projects/{id}/snippets" => Snippet,
    outdates [Snippets];
    struct CreateSnippet {
        id: Id,
        title: String,
        file_name: String,
        code: String,
        visibility: String,
        description: Option<String>,
        /// The text, under the name that newer servers use for `code`.
        content: Option<String>,
    }

    /// Updates a snippet. One that has several files is refused `file_name` and the text: its files are changed by `files`, all
    /// of them or none.
    JSON PUT "/projects/{id}/snippets/{snippet_id}" => Snippet,
    outdates [Snippets];
    struct UpdateSnippet {
        id: Id,
        snippet_id: u64,
        title: Option<String>,
        file_name: Option<String>,
        description: Option<String>,
        code: Option<String>,
        visibility: Option<String>,
        /// The text, under the name that newer servers use for `code`.
        content: Option<String>,
        files: Option<Vec<FileChange>>,
    }

    /// Deletes a snippet.
    DELETE "/projects/{id}/snippets/{snippet_id}" => NoContent,
    outdates [Snippets];
    struct DeleteSnippet { id: Id, snippet_id: u64 }

    /// Gets the text of a snippet.
    GET "/projects/{id}/snippets/{snippet_id}/raw" => Raw, about Snippets;
    struct GetSnippetText { id: Id, snippet_id: u64 }

    /// Gets the text of one of several files of a snippet.
    UNSPECIFIED GET "/projects/{id}/snippets/{snippet_id}/files/{ref}/{file_path}/raw" => Raw, about Snippets;
    struct GetSnippetFile { id: Id, snippet_id: u64, r#ref: String, file_path: String }

    /// Gets the user agent details of a snippet; administrators only.
    GET "/projects/{id}/snippets/{snippet_id}/user_agent_detail" => UserAgentDetail;
    struct GetUserAgentDetail { id: Id, snippet_id: u64 }
}
