//! Fields of replies: what is decoded is used.

use crate::source::files;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The entities of replies with their fields, as GitLab's OpenAPI document has them. The next version is a new file.
const DOCUMENT: &str = include_str!("../contract/openapi/19.5.fields.tsv");

/// The types that decode entities of the document: the entities whose fields a reply may have, the file and the type.
const DECODED: &[(&[&str], &str, &str)] = &[
    (&["Approvals", "ApprovalsPaid"], "api/decisions.rs", "Approvals"),
    (&["ApprovalRule"], "api/decisions.rs", "ApprovalRule"),
    (&["Branch"], "api/branches.rs", "Branch"),
    (&["CiLint"], "api/lint.rs", "Lint"),
    (&["Commit"], "api/commits.rs", "Commit"),
    (&["CommitNote"], "api/commits.rs", "CommitComment"),
    (&["CommitStatus"], "api/commits.rs", "CommitStatus"),
    (&["Compare"], "api/repository.rs", "Comparison"),
    (&["Contributor"], "api/repository.rs", "Contributor"),
    (&["Tree"], "api/repository.rs", "TreeEntry"),
    (&["BlameRange"], "api/repository.rs", "BlameRange"),
    (&["Deployment"], "api/deployments.rs", "Deployment"),
    (&["Diff"], "api/commits.rs", "DiffEntry"),
    (&["Discussion"], "api/discussions.rs", "Discussion"),
    (&["DraftNote"], "api/draft_notes.rs", "DraftNote"),
    (&["GpgKey"], "api/users.rs", "GpgKey"),
    (&["SSHKey"], "api/users.rs", "SshKey"),
    (&["User"], "api/users.rs", "User"),
    (&["User", "UserWithAdmin"], "api/users.rs", "Profile"),
    (&["GroupDetail"], "api/groups.rs", "Group"),
    (&["Issue", "RelatedIssue"], "api/issues.rs", "Issue"),
    (&["IssueLink"], "api/issue_links.rs", "IssueLink"),
    (&["Job", "JobWithProject", "Bridge"], "api/jobs.rs", "Job"),
    (&["Label", "GroupLabel"], "api/labels.rs", "Label"),
    (&["Member"], "api/members.rs", "Member"),
    (&["MergeRequest"], "api/merge_requests.rs", "MergeRequest"),
    (&["Reviewer"], "api/merge_requests.rs", "Reviewer"),
    (&["Milestone"], "api/merge_requests.rs", "Milestone"),
    (&["MergeRequestVersion"], "api/versions.rs", "MergeRequestVersion"),
    (&["Metadata"], "api/identity.rs", "Metadata"),
    (&["PersonalAccessToken"], "api/identity.rs", "AccessToken"),
    (&["Note"], "api/notes.rs", "Note"),
    (&["Suggestion"], "api/notes.rs", "Suggestion"),
    (&["Pipeline"], "api/pipelines/resources.rs", "Pipeline"),
    (&["Variable"], "api/variables.rs", "Variable"),
    (&["Project", "ProjectWithAccess"], "api/projects.rs", "Project"),
    (&["Release"], "api/releases.rs", "Release"),
    (&["ReleaseLink"], "api/releases.rs", "AssetLink"),
    (&["Runner", "RunnerDetails"], "api/runners.rs", "Runner"),
    (&["RunnerManager"], "api/runners.rs", "RunnerManager"),
    (&["Schedule"], "api/schedules.rs", "Schedule"),
    (&["Snippet"], "api/snippets.rs", "Snippet"),
    (&["TestCase"], "api/test_reports.rs", "TestCase"),
    (&["TestReport"], "api/test_reports.rs", "TestReport"),
    (&["TestReportSummary"], "api/test_reports.rs", "TestReportSummary"),
    (&["TestSuite"], "api/test_reports.rs", "TestSuite"),
    (&["Todo"], "api/todos.rs", "Todo"),
    (&["Environment"], "api/deployments.rs", "Environment"),
];

/// The decoded fields that the document does not have, and why they are decoded.
const OTHER_FIELDS: &[(&str, &str)] = &[
    ("Discussion.summary", "the reply to a text of quick actions alone"),
    ("Group.custom_attributes", "on demand"),
    ("Group.shared_runners_minutes_limit", "enterprise servers"),
    ("Job.download_url", "older servers"),
    ("Note.attachment", "older servers"),
    ("Note.discussion_id", "set by the client"),
    ("Note.summary", "the reply to a text of quick actions alone"),
    ("Profile.messenger_id", "older servers"),
    ("Profile.microblog_account", "the name in the specification"),
    ("Profile.network_profile", "the name in the specification"),
    ("Profile.skype", "older servers"),
    ("Project.links", "sent as _links"),
    ("Project.printing_merge_requests_link_enabled", "the name in the specification"),
    ("Runner.token", "older servers"),
    ("SshKey.user", "the entity SSHKeyWithUser"),
    ("User.email", "older servers"),
];

/// Fields that labscope decodes and nothing uses yet, each with its type. Others are not added: a field that nobody
/// uses can only make a reply harder to read.
const UNUSED: &[&str] =
    &["ApprovalRule.eligible_approvers", "CommitSignature.gpg_key_user_email", "Runner.maximum_timeout"];

/// Returns the fields that are declared in the `resource!` blocks of a file and decoded, as `Type.field`.
fn declared(text: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("    pub struct ") {
            name = rest.strip_suffix(" {}").or_else(|| rest.strip_suffix(" {"));
        } else if line == "}" || line == "    served {" {
            name = None;
        } else if let (Some(name), Some((field, _))) =
            (name, line.strip_prefix("        ").and_then(|l| l.split_once(": ")))
            && field.strip_prefix("r#").unwrap_or(field).chars().all(|c| c.is_ascii_lowercase() || c == '_')
        {
            fields.push(format!("{name}.{}", field.strip_prefix("r#").unwrap_or(field)));
        }
    }
    fields
}

/// Returns all words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn decoded_fields_are_those_of_the_document() {
    let mut known: HashMap<&str, HashSet<&str>> = HashMap::new();
    for row in DOCUMENT.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = row.split('\t');
        let (entity, field) = (cells.next().unwrap_or_default(), cells.nth(1).unwrap_or_default());
        known.entry(entity).or_default().insert(field);
    }
    let files = files();
    let mut unknown = BTreeSet::new();
    for (entities, name, decoded) in DECODED {
        let file = files.iter().find(|file| file.name == *name).unwrap_or_else(|| panic!("{name} is there"));
        let prefix = format!("{decoded}.");
        let fields = declared(&file.text).into_iter().filter(|field| field.starts_with(&prefix)).collect::<Vec<_>>();
        assert!(!fields.is_empty(), "{name} declares {decoded}");
        let is_known = |field: &String| {
            let field = field.strip_prefix(&prefix).unwrap_or_default();
            entities.iter().any(|entity| known.get(entity).is_some_and(|fields| fields.contains(field)))
        };
        unknown.extend(fields.into_iter().filter(|field| !is_known(field)));
    }
    let listed: BTreeSet<String> = OTHER_FIELDS.iter().map(|(field, _)| (*field).to_owned()).collect();
    assert_eq!(unknown, listed, "fields that the document does not have, and those that are listed");
}

#[test]
fn decoded_fields_are_used() {
    let files = files();
    let mut used: HashSet<&str> = HashSet::new();
    for file in &files {
        if file.room() == "api" {
            // A declaration is no use, but access to a field is.
            used.extend(file.code.split('.').skip(1).filter_map(|rest| words(rest).next()));
        } else {
            used.extend(words(&file.code));
        }
    }
    let all = files.iter().filter(|file| file.room() == "api").flat_map(|file| declared(&file.code));
    let is_used = |field: &String| field.split_once('.').is_some_and(|(_, name)| used.contains(name));
    let mut unused: Vec<String> = all.filter(|field| !is_used(field)).collect();
    unused.sort();
    assert_eq!(unused, UNUSED, "fields that are decoded and never used");
}
