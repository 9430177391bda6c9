//! The commits of a merge request, as a tab of its place.

use super::Mr;
use super::reads::MergeRequestReads;
use crate::api::commits::Commit;
use crate::parts::list::prelude::*;

/// The commits of a merge request.
pub struct CommitsTabSource {
    reads: MergeRequestReads,
}

/// The list of commits.
pub type CommitsTab = ListPane<CommitsTabSource>;

impl CommitsTab {
    /// Shows the changes of the commit as a part of the review.
    fn open_commit(&mut self, commit: &Commit, cx: &mut Cx) {
        let sha = commit.id.clone();
        cx.act(cx.here.then(move |pane: &mut Mr, _| pane.show_changes().show_commit(sha)));
    }
}

impl ListSource for CommitsTabSource {
    type Row = Commit;
    type Detail = NoDetail;
    const LIST: ListInfo = ListInfo::new("mr commits", "commit", "commits");
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fixed("SHA", "", 8, |_, commit, _| Line::new(commit.short(), Role::Ref)),
        Column::<Self>::fill("title", "", 20, |_, commit, _| Line::text(&commit.title)),
        Column::<Self>::fit("author", "", 4, 20, |_, commit, _| Line::new(&commit.author_name, Role::User))
            .drop_order(2),
        Column::<Self>::age("created", "", |commit| commit.date()).drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] =
        &[Command::row("mr.open", &["Enter"], "Open commit", CommitsTab::open_commit)];

    fn open(place: &Place, _view: &View) -> CommitsTabSource {
        CommitsTabSource { reads: MergeRequestReads::of(place) }
    }

    fn place(&self, _: Place) -> Place {
        self.reads.place().tab("commits")
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("It has no commits.", "‹refresh› refreshes")
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, _: &View) -> Option<ListQuery<Commit>> {
        Some(ListQuery::new(&self.reads.commits()))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Commit> {
        Filter::None
    }

    fn key(commit: &Commit) -> String {
        commit.id.clone()
    }

    fn copies(&self, _: &View, commit: &Commit) -> Vec<Clip> {
        vec![Clip::line("commit", commit.id.clone())]
    }
}
