//! Files that texts link to: their uploads, and files that are uploaded when a draft is sent.

use super::local_paths;
use api::types::File;
use api::uploads::{CreateUpload, NewUpload};
use api::{Error, Fault, Id};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use store::{Value, Write};
use ui::text;

/// Returns the name of a file.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the write that uploads a file to a project.
pub fn write(project: &Id, path: PathBuf) -> Write {
    let what = format!("attach {}", text::sanitize(&name_of(&path)));
    let write = Write::new(&CreateUpload { id: project.clone(), file: File }, what);
    Write { files: vec![("file", path)], ..write }
}

/// Returns the Markdown of the uploaded file `name`, or the reason why there is none, without a final period.
pub fn outcome(name: &str, outcome: &Result<Value, Error>) -> Result<String, String> {
    match outcome {
        Ok(value) => match value.downcast_ref::<NewUpload>() {
            Some(upload) if !upload.markdown.is_empty() => Ok(upload.markdown.clone()),
            _ => Err(format!("{name} was uploaded, but the server sent no link to it")),
        },
        Err(error) => {
            // Nobody sees a file that is uploaded twice.
            let advice = match &error.fault {
                Fault::Disk(_) => "",
                _ if error.is_temporary() => "Try again",
                _ => error.write_advice().trim_end_matches('.'),
            };
            let words = format!("Could not attach {name}: {}. {advice}", error.message().trim_end_matches('.'));
            Err(words.trim_end_matches(['.', ' ']).to_owned())
        }
    }
}

/// A file that is uploaded when the draft is sent that contains its mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The absolute path of the file.
    pub path: String,
    /// The words in the text that the link replaces.
    pub mark: String,
}

impl Attachment {
    /// Creates an attachment for a typed path, with a mark that is not used yet.
    pub fn new(typed: &str, is_used: impl Fn(&str) -> bool) -> Attachment {
        let path = local_paths::path(typed);
        let path = std::path::absolute(&path).unwrap_or(path);
        let name: String = name_of(&path).chars().filter(|c| !c.is_control()).collect();
        let mark = |number: usize| match number {
            1 => format!("[attached when sent: {name}]"),
            _ => format!("[attached when sent: {name} ({number})]"),
        };
        let mark = (1..).map(mark).find(|mark| !is_used(mark)).unwrap_or_default();
        Attachment { path: path.to_string_lossy().into_owned(), mark }
    }

    pub fn name(&self) -> String {
        name_of(Path::new(&self.path))
    }
}

/// Writes attachments for the disk.
pub fn to_json(attachments: &[Attachment]) -> String {
    serde_json::to_string(attachments).unwrap_or_default()
}

/// Reads attachments from the disk; none if they cannot be read.
pub fn from_json(on_disk: &str) -> Vec<Attachment> {
    serde_json::from_str(on_disk).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_of_the_same_name_have_different_marks() {
        let first = Attachment::new("/tmp/a.png", |_| false);
        assert_eq!((first.path.as_str(), first.mark.as_str()), ("/tmp/a.png", "[attached when sent: a.png]"));
        assert_eq!(Attachment::new("/var/a.png", |mark| mark == first.mark).mark, "[attached when sent: a.png (2)]");
        assert!(Attachment::new("a.png", |_| false).path.starts_with('/'));
    }
}
