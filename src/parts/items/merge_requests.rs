//! Functions that the places of merge requests share: the project of one, its state, closing and reopening, checking it out.

use crate::api::Id;
use crate::api::merge_requests::{MergeRequest, MergeRequestState, UpdateMergeRequest};
use crate::api::versions::ListMergeRequestVersions;
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::clone::{Checkout, CheckoutSource, CloneRemote, is_branch_name};
use crate::app::command_info::Disabled;
use crate::app::view::View;
use crate::store::Write;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// Returns the glyph, the name and the role of the state.
pub fn state(merge_request: &MergeRequest) -> (&'static str, &str, Role) {
    let word = match merge_request.state.as_str() {
        "reopened" => "opened",
        other => other,
    };
    let (mark, role) = glyph::status_glyph(word);
    let word = if word == "opened" { "open" } else { word };
    (mark, word, role)
}

/// Returns the title without its draft prefix, which is shown separately.
pub fn title(merge_request: &MergeRequest) -> &str {
    merge_request.title_without_mark()
}

/// Returns the project of a merge request: its path if known, or else its ID.
pub fn project(merge_request: &MergeRequest, view: &View) -> Id {
    project_on(merge_request, &view.session.web_url)
}

/// Returns the project of a merge request on the server with this web address: its path if known, or else its ID.
pub fn project_on(merge_request: &MergeRequest, server: &str) -> Id {
    let full = merge_request.references.as_ref().and_then(|r| r.full.rsplit_once('!')).map(|(path, _)| path);
    let web = || {
        let path = merge_request.web_url.strip_prefix(server)?.strip_prefix('/')?;
        let (path, _) = path.split_once("/-/merge_requests/").or_else(|| path.split_once("/merge_requests/"))?;
        Some(path)
    };
    match full.filter(|path| !path.is_empty()).or_else(web) {
        Some(path) => path.into(),
        None => merge_request.project_id.into(),
    }
}

/// Returns the action that asks before closing a merge request, or reopens a closed one directly.
pub fn ask_to_close_or_reopen(project: &Id, merge_request: &MergeRequest) -> Action {
    let send = Action::Send(close_or_reopen(project, merge_request));
    if !merge_request.is_open() {
        return send;
    }
    let question =
        format!("Close !{} \"{}\" without merging it?", merge_request.iid, text::sanitize(title(merge_request)));
    App::confirm("Close merge request", question, send)
}

/// Returns the write that closes a merge request, or reopens a closed one.
pub fn close_or_reopen(project: &Id, merge_request: &MergeRequest) -> Write {
    let iid = merge_request.iid;
    let event = if merge_request.is_open() { "close" } else { "reopen" };
    let update = UpdateMergeRequest {
        id: project.clone(),
        merge_request_iid: iid,
        state_event: Some(event.into()),
        ..UpdateMergeRequest::default()
    };
    Write::new(&update, format!("{event} !{iid}"))
}

/// Returns an error if the merge request can neither be closed nor reopened.
pub fn can_close_or_reopen(merge_request: Option<&MergeRequest>) -> Result<(), Disabled> {
    match merge_request {
        None => Err("it has not loaded yet".into()),
        Some(m) if m.state == MergeRequestState::Merged => Err("it is merged".into()),
        Some(_) => Ok(()),
    }
}

/// Returns the checkout of the source branch in the clone in the current directory, or the reason why it is impossible.
pub fn check_out(view: &View, project: &Id, merge_request: &MergeRequest) -> Result<Checkout, Disabled> {
    let clone = view.session.clone.as_ref().ok_or("not in a clone of a project on this server")?;
    let of_project = |remote: &&CloneRemote| remote.project.eq_ignore_ascii_case(project.as_str());
    let remote =
        clone.remotes.iter().find(of_project).ok_or_else(|| Disabled::from(format!("not in a clone of {project}")))?;
    let (iid, branch) = (merge_request.iid, merge_request.source_branch());
    let source = match merge_request.is_from_fork() || branch.is_empty() {
        true => CheckoutSource::Head,
        false => CheckoutSource::Branch(branch.to_owned()),
    };
    let versions = view.store.list(&ListMergeRequestVersions { id: project.clone(), merge_request_iid: iid });
    let former = versions.iter().filter_map(|version| version.head_commit_sha.clone());
    let heads = merge_request.sha.as_ref().cloned().into_iter().chain(former).collect();
    Ok(Checkout::new(clone.folder.clone(), remote.clone(), iid, source, heads))
}

/// Returns the texts that can be copied, besides the URL.
pub fn copies(merge_request: &MergeRequest) -> Vec<Clip> {
    let mut copies = vec![
        Clip::line("reference", format!("!{}", merge_request.iid)),
        Clip::line("title", merge_request.title.clone()),
    ];
    let branch = merge_request.source_branch();
    if !branch.is_empty() {
        copies.push(Clip::line("source branch", branch.to_owned()));
    }
    let iid = merge_request.iid;
    if branch.is_empty() || merge_request.is_from_fork() {
        let checkout = format!("git fetch origin merge-requests/{iid}/head && git switch -c mr-{iid} FETCH_HEAD");
        copies.push(Clip::line("checkout command", checkout));
    } else if let Some(switch) = switch_command(branch) {
        // To `git fetch`, a plus sign before a name means something else.
        let full = if branch.starts_with('+') { format!("refs/heads/{branch}") } else { branch.to_owned() };
        copies.push(Clip::line("checkout command", format!("git fetch origin {} && {switch}", quoted(&full))));
    }
    copies
}

/// Returns the command that checks out a branch, for a shell. Names that git refuses have none: a command could take
/// them for something else.
pub fn switch_command(branch: &str) -> Option<String> {
    is_branch_name(branch).then(|| format!("git switch {}", quoted(branch)))
}

/// Returns a word quoted as an operand of a git command; one that looks like an option is preceded by `--`.
pub fn operand(word: &str) -> String {
    let dashes = if word.starts_with('-') { "-- " } else { "" };
    format!("{dashes}{}", quoted(word))
}

/// Quotes a word for a shell: branch names may contain special characters.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ':');
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('-') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(title: &str) -> MergeRequest {
        MergeRequest { title: title.into(), ..MergeRequest::default() }
    }

    #[test]
    fn the_draft_prefix_is_removed_from_the_title() {
        for (whole, short) in
            [("Draft: Rows", "Rows"), ("[WIP] Rows", "Rows"), ("Rows", "Rows"), ("Drafts: x", "Drafts: x")]
        {
            assert_eq!(title(&named(whole)), short);
        }
        // Only what the server takes for a mark is one: current ones do not take `WIP`, and older ones nothing else.
        for (whole, is_draft, short) in [
            ("[WIP] limits: cut", false, "[WIP] limits: cut"),
            ("WIP: Rows", false, "WIP: Rows"),
            ("Draft: Rows", false, "Draft: Rows"),
            ("(draft)Rows", true, "Rows"),
            ("Draft: WIP: Rows", true, "WIP: Rows"),
            ("wip: Rows", true, "Rows"),
        ] {
            let known = MergeRequest { draft: Some(is_draft), ..named(whole) };
            assert_eq!(title(&known), short, "{whole}");
        }
    }

    #[test]
    fn branch_names_are_quoted_for_the_shell() {
        assert_eq!(quoted("feature/rows"), "feature/rows");
        assert_eq!(quoted("a;rm$(x)"), "'a;rm$(x)'");
        assert_eq!(quoted("a'b"), "'a'\\''b'");
        assert_eq!(operand("-f"), "-- '-f'");
        assert_eq!(operand("https://host:80/a/b.git"), "https://host:80/a/b.git");
    }

    #[test]
    fn checkout_commands_name_a_branch_and_nothing_else() {
        let command = |branch: &str| {
            let sent = serde_json::json!({"iid": 7, "source_branch": branch});
            let merge_request: MergeRequest = serde_json::from_value(sent).expect("it can be read");
            copies(&merge_request).into_iter().find(|clip| clip.name == "checkout command").map(|clip| clip.text)
        };
        assert_eq!(command("rows").as_deref(), Some("git fetch origin rows && git switch rows"));
        assert_eq!(command("+x").as_deref(), Some("git fetch origin refs/heads/+x && git switch +x"));
        assert_eq!(command("a;id").as_deref(), Some("git fetch origin 'a;id' && git switch 'a;id'"));
        for hostile in
            ["+main:main", "+refs/heads/x:refs/heads/main", "-f", "--upload-pack=id", "a b", "@{-1}", "a\nid"]
        {
            assert_eq!(command(hostile), None, "{hostile:?}");
        }
    }
}
