//! Tags and their releases (specification, "Tags and releases").

use crate::commits::Commit;
use crate::{Id, NoContent, Nullable, Time};

crate::resource! {
    /// A tag, with its message and its release.
    pub struct Tag {
        name: String,
        /// The message; null for a lightweight tag.
        message: Option<String>,
        commit: Option<Commit>,
        release: Option<TagRelease>,
    }
    unspecified {
        /// The SHA of the tag object, or of the commit for a lightweight tag.
        target: Option<String>,
        protected: Option<bool>,
        /// The date of an annotated tag.
        created_at: Nullable<Time>,
    }
}

/// The beginnings of signatures (git, `gpg-interface.c`), which servers send as part of the message.
const SIGNATURES: &[&str] = &[
    "-----BEGIN PGP SIGNATURE-----",
    "-----BEGIN PGP MESSAGE-----",
    "-----BEGIN SIGNED MESSAGE-----",
    "-----BEGIN SSH SIGNATURE-----",
];

impl Tag {
    /// Returns the message without its signature, and whether it has one.
    pub fn annotation(&self) -> (&str, bool) {
        let message = self.message.as_deref().unwrap_or_default();
        let begins = |line: &str| SIGNATURES.iter().any(|begin| line.starts_with(begin));
        let mut at = 0;
        for line in message.split_inclusive('\n') {
            if begins(line) {
                return (message.get(..at).unwrap_or_default().trim(), true);
            }
            at += line.len();
        }
        (message.trim(), false)
    }
}

crate::resource! {
    /// The release of a tag.
    pub struct TagRelease {
        tag_name: String,
        /// The release notes in Markdown.
        description: Option<String>,
    }
}

crate::endpoints! {
    section "Tags and releases";

    /// Lists the tags of a project.
    GET "/projects/{id}/repository/tags" => Vec<Tag>, about Tags;
    struct ListTags {
        id: Id,
        /// Part of the name, case-insensitive; older servers ignore it.
        search: Option<String>,
        /// `name` or `updated` (default).
        order_by: Option<String>,
        /// `asc` or `desc` (default).
        sort: Option<String>,
    }

    /// Gets a single tag.
    GET "/projects/{id}/repository/tags/{tag_name}" => Tag, about Tags;
    struct GetTag { id: Id, tag_name: String }

    /// Creates a tag.
    POST "/projects/{id}/repository/tags" => Tag,
    outdates [Tags];
    struct CreateTag {
        id: Id,
        tag_name: String,
        /// Commit SHA, tag or branch.
        r#ref: String,
        /// Message; creates an annotated tag.
        message: Option<String>,
        /// The notes of a release; servers since 14.0 ignore it.
        release_description: Option<String>,
    }

    /// Deletes a tag.
    DELETE "/projects/{id}/repository/tags/{tag_name}" => NoContent,
    outdates [Tags];
    struct DeleteTag { id: Id, tag_name: String }

    /// Creates a release for a tag; servers since 14.0 have [`CreateRelease`](crate::releases::CreateRelease) only.
    POST "/projects/{id}/repository/tags/{tag_name}/release" => TagRelease,
    outdates [Tags];
    struct CreateTagRelease { id: Id, tag_name: String, description: String }

    /// Updates the description of a release; servers since 14.0 have
    /// [`UpdateRelease`](crate::releases::UpdateRelease) only.
    PUT "/projects/{id}/repository/tags/{tag_name}/release" => TagRelease,
    outdates [Tags];
    struct UpdateTagRelease { id: Id, tag_name: String, description: String }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_not_part_of_what_a_tag_says() {
        let annotation = |message: &str| {
            let tag = Tag { message: Some(message.into()), ..Tag::default() };
            let (text, is_signed) = tag.annotation();
            (text.to_owned(), is_signed)
        };
        for begin in SIGNATURES {
            assert_eq!(
                annotation(&format!("One\n\nTwo\n{begin}\n\niQEzBAAB\n")),
                ("One\n\nTwo".into(), true),
                "{begin}"
            );
            assert_eq!(annotation(&format!("{begin}\nabc\n")), (String::new(), true));
            assert_eq!(annotation(&format!("Explains {begin}")), (format!("Explains {begin}"), false));
        }
        assert_eq!(Tag::default().annotation(), ("", false));
    }
}
