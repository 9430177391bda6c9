//! Loads comments on commits and commit statuses from a world file.

use super::super::schema::{CommentForm, StatusForm};
use super::{Loader, Result, status};
use crate::records::{CommitComment, CommitStatus, Pipeline, Status};
use git2::Oid;

impl Loader {
    /// Returns the head of a ref, or the commit `back` before it.
    fn commit(&self, project: u64, ref_name: &str, back: usize) -> Result<Oid> {
        let history = self.histories.get(&project).ok_or("project: has no repository")?;
        let tag = history.tags.get(ref_name).map(|(_, commit)| *commit);
        let head = tag.or_else(|| history.branches.get(ref_name).copied());
        let head = head.ok_or_else(|| format!("ref_name: there is no branch or tag {ref_name}"))?;
        history.back(head, back).ok_or_else(|| "back: the history is not that long".to_owned())
    }

    pub(super) fn comment(&mut self, form: &CommentForm) -> Result<()> {
        let project = self.project_id(&form.project)?;
        let sha = self.commit(project, &form.ref_name, form.back)?.to_string();
        let author = self.user_id("author", &form.author)?;
        let created_at = self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?;
        let line_type = form.line.map(|_| form.line_type.clone().unwrap_or_else(|| "new".into()));
        let (note, path, line) = (form.note.trim_end().to_owned(), form.path.clone(), form.line);
        let comment =
            CommitComment { project, sha, note, author, path, line, line_type, created_at, ..Default::default() };
        self.world.commit_comments.add(comment);
        Ok(())
    }

    pub(super) fn commit_status(&mut self, form: &StatusForm) -> Result<()> {
        let project = self.project_id(&form.project)?;
        let sha = self.commit(project, &form.ref_name, form.back)?.to_string();
        let author = self.user_id("author", &form.author)?;
        let created_at = self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?;
        let status = status(&form.status).map_err(|e| format!("status: {e}"))?;
        let on = |p: &&Pipeline| p.project == project && p.sha == sha && p.ref_name == form.ref_name;
        let known = self.world.top_level_pipelines().rev().find(on).map(|pipeline| pipeline.id);
        let pipeline = match known {
            Some(id) => id,
            None => self.world.add_pipeline(Pipeline {
                project,
                ref_name: form.ref_name.clone(),
                sha: sha.clone(),
                status,
                user: Some(author),
                created_at,
                external: true,
                ..Pipeline::default()
            }),
        };
        // Statuses are listed together with jobs, so their IDs must be distinct.
        let id = self.world.jobs.next_id();
        self.world.commit_statuses.add(CommitStatus {
            id,
            project,
            pipeline,
            sha,
            ref_name: Some(form.ref_name.clone()),
            name: form.name.clone(),
            status,
            target_url: form.url.clone(),
            description: form.description.clone(),
            coverage: form.coverage,
            author,
            created_at,
            started_at: (status != Status::Pending).then_some(created_at),
            finished_at: status.is_finished().then_some(created_at),
            ..CommitStatus::default()
        });
        Ok(())
    }
}
