//! Words for what a write did: `close !42` becomes `Closed !42`, and `create the issue` names the new one.

use api::branches::Branch;
use api::groups::Group;
use api::issues::Issue;
use api::jobs::Job;
use api::labels::Label;
use api::merge_requests::{MergeRequest, Milestone};
use api::pipelines::resources::Pipeline;
use api::projects::Project;
use api::releases::AssetLink;
use api::runners::Runner;
use api::snippets::Snippet;
use api::tags::Tag;
use api::users::Profile;
use store::Value;
use ui::text;

/// Verbs whose past tense does not follow the rules below, or that say something else once it is done.
const IRREGULAR: &[(&str, &str)] = &[
    ("change", "saved"),
    ("commit", "committed"),
    ("drop", "dropped"),
    ("keep", "kept"),
    ("let", "let"),
    ("make", "made"),
    ("play", "started"),
    ("put", "put"),
    ("reset", "reset"),
    ("run", "started"),
    ("send", "sent"),
    ("set", "set"),
    ("star", "starred"),
    ("stop", "stopped"),
    ("submit", "submitted"),
    ("take", "took"),
    ("unstar", "unstarred"),
    ("withdraw", "withdrew"),
    ("write", "wrote"),
];

/// Returns `what`, which begins with a verb, in the past tense: a sentence without its period.
pub fn past_tense(what: &str) -> String {
    let (verb, rest) = what.split_at(what.find(' ').unwrap_or(what.len()));
    let past = match IRREGULAR.iter().find(|(now, _)| *now == verb) {
        Some((_, past)) => (*past).to_owned(),
        None if verb.ends_with('e') => format!("{verb}d"),
        None => match verb.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
            Some(stem) => format!("{stem}ied"),
            None => format!("{verb}ed"),
        },
    };
    format!("{}{rest}", text::capitalize(&past))
}

/// Returns the name of a reply, if the server gave it one.
fn name(reply: &Value) -> Option<String> {
    fn of<T: 'static>(reply: &Value, name: impl FnOnce(&T) -> String) -> Option<String> {
        reply.downcast_ref::<T>().map(name)
    }
    of(reply, |made: &MergeRequest| format!("!{}", made.iid))
        .or_else(|| of(reply, |made: &Issue| format!("#{}", made.iid)))
        .or_else(|| of(reply, |made: &Job| format!("#{} {}", made.id, made.name)))
        .or_else(|| of(reply, |made: &Pipeline| format!("pipeline #{}", made.id)))
        .or_else(|| of(reply, |made: &Snippet| format!("snippet ${}", made.id)))
        .or_else(|| of(reply, |made: &Branch| format!("branch {}", made.name)))
        .or_else(|| of(reply, |made: &Tag| format!("tag {}", made.name)))
        .or_else(|| of(reply, |made: &Label| format!("label {}", made.name)))
        .or_else(|| of(reply, |made: &Milestone| format!("milestone {}", made.title)))
        .or_else(|| of(reply, |made: &Project| format!("project {}", made.path_with_namespace)))
        .or_else(|| of(reply, |made: &Group| format!("group {}", made.full_path)))
        .or_else(|| of(reply, |made: &AssetLink| format!("asset link {}", made.name)))
        .or_else(|| of(reply, |made: &Runner| format!("runner #{} {}", made.id, made.label())))
        .or_else(|| of(reply, |made: &Profile| format!("@{}", made.username)))
}

/// Returns what a write did, in the past tense: with the name of its reply in place of `the issue`, or of a former name.
pub fn outcome(what: &str, reply: &Value) -> String {
    let done = past_tense(what);
    match (done.split_once(' '), name(reply)) {
        (Some((verb @ ("Created" | "Started"), object)), Some(name)) if object.starts_with("the ") => {
            format!("{verb} {name}")
        }
        (Some((verb @ "Saved", object)), Some(name)) if !object.ends_with(&name) => format!("{verb} {name}"),
        _ => done,
    }
}

#[cfg(test)]
mod tests {
    use super::{outcome, past_tense};
    use api::jobs::Job;
    use api::labels::Label;
    use api::merge_requests::MergeRequest;
    use api::pipelines::resources::Pipeline;
    use api::users::Profile;
    use std::sync::Arc;
    use store::Value;

    #[test]
    fn what_was_created_is_named() {
        let request: Value = Arc::new(MergeRequest { iid: 46, ..MergeRequest::default() });
        let job: Value = Arc::new(Job { id: 138, name: "staging".into(), ..Job::default() });
        assert_eq!(outcome("create the merge request", &request), "Created !46");
        assert_eq!(outcome("play the job", &job), "Started #138 staging");
        let pipeline: Value = Arc::new(Pipeline { id: 30, ..Pipeline::default() });
        assert_eq!(outcome("run the pipeline", &pipeline), "Started pipeline #30");
        // A change may rename.
        let label: Value = Arc::new(Label { name: "defect".into(), ..Label::default() });
        assert_eq!(outcome("change label bug", &label), "Saved label defect");
        let user: Value = Arc::new(Profile { username: "bo".into(), ..Profile::default() });
        assert_eq!(outcome("change @bob", &user), "Saved @bo");
        assert_eq!(outcome("change acme/tools!46", &request), "Saved acme/tools!46");
        assert_eq!(outcome("change the role of bo", &(Arc::new(()) as Value)), "Saved the role of bo");
        assert_eq!(outcome("create the tag", &(Arc::new(()) as Value)), "Created the tag");
    }

    #[test]
    fn verbs_are_put_into_the_past() {
        for (now, past) in [
            ("close !42", "Closed !42"),
            ("retry #7 unit", "Retried #7 unit"),
            ("play #7", "Started #7"),
            ("change #42", "Saved #42"),
            ("keep #7", "Kept #7"),
            ("comment on !42", "Commented on !42"),
            ("cherry-pick 1a2b to main", "Cherry-picked 1a2b to main"),
            ("commit 2 files to main", "Committed 2 files to main"),
            ("test", "Tested"),
        ] {
            assert_eq!(past_tense(now), past);
        }
    }
}
