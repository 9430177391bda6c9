//! The user's saved texts in memory, by key. A comment is parsed once, when it is read from disk, and written by the same
//! codec.

use super::outbox::Draft;
use super::text_key;
use std::collections::HashMap;

/// A text that is saved until the server has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedText {
    Comment(Box<Draft>),
    /// The text of a form or an editor, or of a comment that cannot be parsed. It is written to disk as it is.
    Plain(String),
}

impl SavedText {
    /// Parses what is on disk under a key.
    pub fn parse(key: &str, on_disk: String) -> SavedText {
        match Draft::read(&on_disk).filter(|_| text_key::is_comment(key)) {
            Some(draft) => SavedText::Comment(Box::new(draft)),
            None => SavedText::Plain(on_disk),
        }
    }

    /// Returns the text to write to disk.
    pub fn to_disk(&self) -> String {
        match self {
            SavedText::Comment(draft) => draft.to_json(),
            SavedText::Plain(text) => text.clone(),
        }
    }
}

/// The saved texts of an account.
#[derive(Default)]
pub struct Texts(HashMap<String, SavedText>);

impl Texts {
    /// Parses the texts on disk.
    pub fn parse(on_disk: HashMap<String, String>) -> Texts {
        Texts(on_disk.into_iter().map(|(key, text)| (key.clone(), SavedText::parse(&key, text))).collect())
    }

    pub fn get(&self, key: &str) -> Option<&SavedText> {
        self.0.get(key)
    }

    /// Returns a comment.
    pub fn comment(&self, key: &str) -> Option<&Draft> {
        comment(self.0.get(key)?)
    }

    /// Returns a text that is not a comment.
    pub fn plain(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            SavedText::Comment(_) => None,
            SavedText::Plain(text) => Some(text),
        }
    }

    /// Iterates over the comments, in no order.
    pub fn comments(&self) -> impl Iterator<Item = (&String, &Draft)> {
        self.0.iter().filter_map(|(key, text)| Some((key, comment(text)?)))
    }

    /// Iterates over all keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces a text, or removes it.
    pub fn set(&mut self, key: &str, text: Option<SavedText>) {
        match text {
            Some(text) => self.0.insert(key.to_owned(), text),
            None => self.0.remove(key),
        };
    }
}

fn comment(text: &SavedText) -> Option<&Draft> {
    if let SavedText::Comment(draft) = text { Some(draft) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Noteable;

    #[test]
    fn what_cannot_be_parsed_is_written_as_it_was() {
        let draft = Draft { text: "typed".into(), ..Draft::new(Noteable::default()) }.to_json();
        let later = draft.replacen("\"on\"", "\"off\"", 1);
        for (key, on_disk, is_comment) in [
            ("draft a/b!1 5", draft.as_str(), true),
            ("draft a/b!1 6", &later, false),
            ("draft a/b!1 7", "{\"on\":", false),
            ("a form", &draft, false),
        ] {
            let texts = Texts::parse(HashMap::from([(key.to_owned(), on_disk.to_owned())]));
            assert_eq!(texts.get(key).map(SavedText::to_disk).as_deref(), Some(on_disk), "{key}");
            assert_eq!((texts.comment(key).is_some(), texts.plain(key).is_some()), (is_comment, !is_comment), "{key}");
        }
    }
}
