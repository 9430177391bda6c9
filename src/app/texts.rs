//! The user's saved texts in memory. A comment is parsed once, when it is read from disk, and written by the same codec.

use super::outbox::Draft;
use super::text_key::{self, DraftKey};
use super::uploads::{self, Attachment};
use std::collections::HashMap;

/// The saved texts of an account.
#[derive(Default)]
pub struct TypedTexts {
    /// The comments that the server does not have yet.
    drafts: HashMap<DraftKey, Draft>,
    /// The texts of forms and editors by key, and comments that cannot be parsed. They are written to disk as they are.
    plain: HashMap<String, String>,
    /// The error that currently prevents texts from being written to disk.
    pub(super) failure: Option<String>,
}

impl TypedTexts {
    /// Parses the texts on disk.
    pub fn parse(on_disk: HashMap<String, String>) -> TypedTexts {
        let mut texts = TypedTexts::default();
        on_disk.into_iter().for_each(|(key, text)| texts.set_on_disk(key, Some(text)));
        texts
    }

    /// Takes over what is on disk under a key, or that nothing is.
    pub fn set_on_disk(&mut self, key: String, text: Option<String>) {
        self.drafts.retain(|draft_key, _| draft_key.to_string() != key);
        self.plain.remove(&key);
        let Some(text) = text else { return };
        let draft = Draft::read(&text).and_then(|draft| Some((DraftKey::parse(&key, &draft.on)?, draft)));
        match draft {
            Some((key, draft)) => _ = self.drafts.insert(key, draft),
            None => _ = self.plain.insert(key, text),
        }
    }

    /// Returns the text under a key, as it is on disk.
    pub fn to_disk(&self, key: &str) -> Option<String> {
        let draft = || self.drafts.iter().find(|(draft_key, _)| draft_key.to_string() == key);
        self.plain(key).map(str::to_owned).or_else(|| Some(draft()?.1.to_json()))
    }

    /// Returns the error because of which texts are only in memory, if there is one.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Returns where a draft is, in two or three words.
    pub fn whereabouts(&self) -> &'static str {
        if self.failure.is_some() { "draft only in memory" } else { "draft saved" }
    }

    /// Returns a comment.
    pub fn draft(&self, key: &DraftKey) -> Option<&Draft> {
        self.drafts.get(key)
    }

    /// Returns the files that wait until the text of a form or an editor is sent.
    pub fn files(&self, key: &str) -> Vec<Attachment> {
        self.plain(&text_key::of_files(key)).map(uploads::from_json).unwrap_or_default()
    }

    /// Iterates over the comments, in no order.
    pub fn drafts(&self) -> impl Iterator<Item = (&DraftKey, &Draft)> {
        self.drafts.iter()
    }

    /// Returns the text of a form or an editor.
    pub fn plain(&self, key: &str) -> Option<&str> {
        self.plain.get(key).map(String::as_str)
    }

    /// Iterates over the keys of the texts of forms and editors, in no order.
    pub fn plain_keys(&self) -> impl Iterator<Item = &String> {
        self.plain.keys()
    }

    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty() && self.plain.is_empty()
    }

    /// Replaces a comment, or removes it.
    pub fn set_draft(&mut self, key: DraftKey, draft: Option<Draft>) {
        match draft {
            Some(draft) => _ = self.drafts.insert(key, draft),
            None => _ = self.drafts.remove(&key),
        }
    }

    /// Replaces the text of a form or an editor, or removes it.
    pub fn set_plain(&mut self, key: String, text: Option<String>) {
        match text {
            Some(text) => _ = self.plain.insert(key, text),
            None => _ = self.plain.remove(&key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::Noteable;

    #[test]
    fn what_cannot_be_parsed_is_kept_as_it_is() {
        let on = Noteable::MergeRequest { project: "a/b".into(), iid: 1 };
        let draft = Draft { text: "typed".into(), ..Draft::new(on.clone()) };
        let json = draft.to_json();
        let later = json.replacen("\"on\"", "\"off\"", 1);
        for (key, on_disk, is_draft) in [
            ("draft a/b!1 5", json.as_str(), true),
            ("draft a/b!2 5", &json, false),
            ("draft a/b!1 6", &later, false),
            ("draft a/b!1 7", "{\"on\":", false),
            ("a form", &json, false),
        ] {
            let mut texts = TypedTexts::parse(HashMap::from([(key.to_owned(), on_disk.to_owned())]));
            assert_eq!(texts.draft(&DraftKey::new(on.clone(), 5)), Some(&draft).filter(|_| is_draft), "{key}");
            assert_eq!(texts.plain(key), Some(on_disk).filter(|_| !is_draft), "{key}");
            texts.set_on_disk(key.to_owned(), None);
            assert!(texts.is_empty(), "{key}");
        }
    }
}
