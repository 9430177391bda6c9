//! Files of a repository by their path: content, blame, and commits that change one file.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::commits;
use super::lfs;
use super::mount::Mount;
use super::range;
use super::records::Project;
use super::rejection::Rejection;
use super::repository::inline;
use super::stream::Stream;
use super::world::World;
use api::commits::{CommitAction, CreateCommit};
use api::repository::{BlameRange, GetBlame, GetRawFile};
use api::{Id, NoContent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::io::{self, Seek, SeekFrom};
use std::ops::Deref;
use std::time::Duration;
use system::files;

/// The time to look for the last commit of a file whose content is all that most callers want.
const MAX_SEARCH: Duration = Duration::from_millis(50);

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<GetFile>(get)
        .stream::<GetRawFile>(raw)
        .read::<GetBlame>(blame)
        .write_files::<CreateFile>(|call, e| {
            let file = NewFile {
                content: Some(e.content),
                encoding: e.encoding,
                start_branch: e.start_branch,
                author: (e.author_name, e.author_email),
            };
            commit(call, "create", (e.id, e.branch, e.file_path), e.commit_message, file)
        })
        .write_files::<UpdateFile>(update)
        .write::<DeleteFile>(|call, e| {
            let author = (e.author_name, e.author_email);
            let file = NewFile { start_branch: e.start_branch, author, ..NewFile::default() };
            commit(call, "delete", (e.id, e.branch, e.file_path), e.commit_message, file)?;
            ok(NoContent)
        })
}

api::resource! {
    /// A file with its content.
    pub struct RepositoryFile {
        file_name: String,
        file_path: String,
        /// The size in bytes.
        size: u64,
        /// The encoding of the content: `base64`.
        encoding: String,
        content_sha256: String,
        r#ref: String,
        blob_id: String,
        commit_id: String,
        last_commit_id: String,
        execute_filemode: bool,
        content: String,
    }
}

api::resource! {
    /// A file that was created or changed.
    pub struct ChangedFile {
        file_path: String,
        branch: String,
    }
}

api::endpoints! {
    unspecified section "Repository files";

    /// Gets a file with its content; for `HEAD`, only the headers that describe it.
    GET "/projects/{id}/repository/files/{file_path}" => RepositoryFile;
    struct GetFile { id: Id, file_path: String, r#ref: String }

    /// Creates a file in a commit of its own.
    POST "/projects/{id}/repository/files/{file_path}" => ChangedFile;
    struct CreateFile {
        id: Id,
        file_path: String,
        branch: String,
        commit_message: String,
        content: String,
        /// `text` (default) or `base64`.
        encoding: Option<String>,
        start_branch: Option<String>,
        author_email: Option<String>,
        author_name: Option<String>,
    }

    /// Changes a file in a commit of its own.
    PUT "/projects/{id}/repository/files/{file_path}" => ChangedFile;
    struct UpdateFile {
        id: Id,
        file_path: String,
        branch: String,
        commit_message: String,
        content: String,
        /// `text` (default) or `base64`.
        encoding: Option<String>,
        /// The last known commit of the file: the change is refused if there is a newer one.
        last_commit_id: Option<String>,
        start_branch: Option<String>,
        author_email: Option<String>,
        author_name: Option<String>,
    }

    /// Deletes a file in a commit of its own.
    DELETE "/projects/{id}/repository/files/{file_path}" => NoContent;
    struct DeleteFile {
        id: Id,
        file_path: String,
        branch: String,
        commit_message: String,
        start_branch: Option<String>,
        author_email: Option<String>,
        author_name: Option<String>,
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the file at a path of a ref, or of the default branch, and its bytes. Its last commit is searched for no
    /// longer than `within`.
    ///
    /// # Errors
    /// Fails with 404 if the ref or the file does not exist.
    fn file(
        &self,
        project: &Project,
        name: Option<&str>,
        path: &str,
        within: Option<Duration>,
    ) -> Result<(RepositoryFile, Vec<u8>), Rejection> {
        let git = self.git(project)?;
        let commit = git.commit_at(name.filter(|name| *name != "HEAD"), "Commit")?;
        let root = git.folder(commit.tree_id)?;
        let (blob, bytes) = git.file(&root, path)?.ok_or_else(|| Rejection::not_found("File"))?;
        let execute_filemode = git.is_executable(&root, path);
        drop(root);
        let last = match within {
            None => git.last_change(commit.id, path)?,
            Some(within) => git.with_stop(&self.stop.within(within)).last_change(commit.id, path).ok().flatten(),
        };
        let file = RepositoryFile {
            file_name: path.rsplit('/').next().unwrap_or_default().to_owned(),
            file_path: path.to_owned(),
            size: bytes.len() as u64,
            encoding: "base64".into(),
            content_sha256: Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
            r#ref: name.unwrap_or_default().to_owned(),
            blob_id: blob.to_string(),
            commit_id: commit.id.to_string(),
            last_commit_id: last.map(|id| id.to_string()).unwrap_or_default(),
            execute_filemode,
            content: String::new(),
        };
        Ok((file, bytes))
    }
}

impl<T> Answer<T> {
    /// Adds the headers that describe a file.
    fn describing(self, file: &RepositoryFile) -> Answer<T> {
        self.header("x-gitlab-blob-id", &file.blob_id)
            .header("x-gitlab-commit-id", &file.commit_id)
            .header("x-gitlab-content-sha256", &file.content_sha256)
            .header("x-gitlab-encoding", &file.encoding)
            .header("x-gitlab-execute-filemode", if file.execute_filemode { "true" } else { "false" })
            .header("x-gitlab-file-name", &file.file_name)
            .header("x-gitlab-file-path", &file.file_path)
            .header("x-gitlab-last-commit-id", &file.last_commit_id)
            .header("x-gitlab-ref", &file.r#ref)
            .header("x-gitlab-size", &file.size.to_string())
    }
}

fn check_ref(name: &str) -> Result<(), Rejection> {
    if name.is_empty() { Err(Rejection::error(400, "ref is empty")) } else { Ok(()) }
}

fn get(call: &ReadCall, input: GetFile) -> Outcome<RepositoryFile> {
    let project = call.project_code(&input.id)?;
    check_ref(&input.r#ref)?;
    let (file, bytes) = call.file(project, Some(&input.r#ref), &input.file_path, None)?;
    let file = RepositoryFile { content: STANDARD.encode(bytes), ..file };
    Ok(Answer::new(file.clone()).describing(&file))
}

fn raw(call: &ReadCall, input: GetRawFile) -> Outcome<Stream> {
    let (project, git) = call.repository(&input.id)?;
    let name = input.r#ref.as_deref().filter(|name| !name.is_empty());
    let (file, bytes) = call.file(project, name, &input.path, Some(MAX_SEARCH))?;
    let stored = lfs::path(git.repo().commondir(), &bytes).filter(|_| input.lfs == Some(true));
    let Some(path) = stored else { return Ok(inline(call, &file.blob_id, bytes).describing(&file)) };
    let missing = |_| Rejection::record_not_found();
    let mut stored = files::open_regular(&path).map_err(missing)?;
    let length = stored.metadata().map_err(missing)?.len();
    // The pointer determines the content, and its blob ID the pointer.
    let tag = format!("\"lfs {}\"", file.blob_id);
    let stream = Stream::new("application/octet-stream", Some(length), move |from, out| {
        stored.seek(SeekFrom::Start(from))?;
        io::copy(&mut stored, out).map(|_| ())
    });
    Ok(range::answer(stream, &call.headers, Some(&tag)))
}

api::input_object! {
    /// The lines whose blame is requested, from 1.
    #[derive(Default)]
    struct LineRange {
        start: u64,
        end: u64,
    }
}

fn blame(call: &ReadCall, input: GetBlame) -> Outcome<Vec<BlameRange>> {
    let (project, git) = call.repository(&input.id)?;
    check_ref(&input.r#ref)?;
    let range = call.option("range")?.unwrap_or(LineRange { start: 1, end: u64::MAX });
    for (name, line) in [("range[start]", range.start), ("range[end]", range.end)] {
        if line == 0 {
            return Err(Rejection::no_valid_value(name));
        }
    }
    if range.start > range.end {
        return Err(Rejection::bad_request("range[start] must be less than or equal to range[end]"));
    }
    let runs = git.blame(git.commit_at(Some(&input.r#ref), "Commit")?.id, &input.path)?;
    let (file, bytes) = call.file(project, Some(&input.r#ref), &input.path, Some(MAX_SEARCH))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().zip(1..);
    let mut ranges = Vec::new();
    for (commit, count) in runs {
        let run = lines.by_ref().take(count).filter(|(_, number)| (range.start..=range.end).contains(number));
        let lines: Vec<String> = run.map(|(line, _)| line.to_owned()).collect();
        if !lines.is_empty() {
            ranges.push(BlameRange { commit: Some(git.show_cached(commit, &call.cache)?), lines });
        }
    }
    Ok(Answer::new(ranges).describing(&file))
}

/// The inputs of a commit of one file that some actions leave out.
#[derive(Default)]
struct NewFile {
    content: Option<String>,
    encoding: Option<String>,
    start_branch: Option<String>,
    /// The name and email address of the author; by default those of the caller.
    author: (Option<String>, Option<String>),
}

fn commit(
    call: &mut WriteCall,
    action: &str,
    (id, branch, file_path): (Id, String, String),
    commit_message: String,
    file: NewFile,
) -> Outcome<ChangedFile> {
    if branch.is_empty() {
        return Err(Rejection::error(400, "branch is empty"));
    }
    let encoding = call.choice_or_first("encoding", file.encoding.as_deref(), &["text", "base64"])?.to_owned();
    let action = CommitAction {
        action: action.into(),
        file_path: file_path.clone(),
        content: file.content,
        encoding: Some(encoding),
        ..CommitAction::default()
    };
    let (author_name, author_email) = file.author;
    let commit = CreateCommit {
        id,
        branch: branch.clone(),
        commit_message,
        start_branch: file.start_branch,
        actions: vec![action],
        author_email,
        author_name,
    };
    commits::create(call, commit)?;
    ok(ChangedFile { file_path, branch })
}

fn update(call: &mut WriteCall, input: UpdateFile) -> Outcome<ChangedFile> {
    let (_, git) = call.repository_to_write(&input.id)?;
    let known = input.last_commit_id.filter(|id| !id.is_empty());
    let head = git.branch_head(input.start_branch.as_deref().unwrap_or(&input.branch));
    if let Some((known, head)) = known.zip(head)
        && git.last_change(head, &input.file_path)?.is_some_and(|last| last.to_string() != known)
    {
        let why = "You are attempting to update a file that has changed since you started editing it.";
        return Err(Rejection::bad_request(why));
    }
    let file = NewFile {
        content: Some(input.content),
        encoding: input.encoding,
        start_branch: input.start_branch,
        author: (input.author_name, input.author_email),
    };
    let answer = commit(call, "update", (input.id, input.branch, input.file_path), input.commit_message, file)?;
    Ok(answer.status(200))
}
