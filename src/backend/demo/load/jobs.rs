//! Loads artifacts, past pipelines and schedules from a world file.

use super::super::schema::{ArtifactsForm, FileForm, JobForm, PipelineForm, ScheduleForm, ScriptForm, WorldFile};
use super::super::{generate, script};
use super::{Loader, Result, age, status};
use crate::records::{
    Archive, Bridge, Environment, Job, PARENT_PIPELINE, Planned, ReportFile, Schedule, Script, Status, Variable,
};
use crate::runner::{self, PipelinePlan};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::SignedDuration;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The maximum depth of child pipelines.
const MAX_DEPTH: usize = 2;

impl Loader {
    /// Packs a set of artifacts.
    pub(super) fn archive(&mut self, form: &ArtifactsForm) -> Result<()> {
        let mut bytes = pack(form)?;
        if form.damaged {
            bytes.truncate(bytes.len() / 2);
        }
        let expires = form.expires.as_ref();
        let seconds =
            |text: &String| age(text).ok_or_else(|| format!("expires: `{text}` is not a duration such as 4w"));
        let expires_in = expires.map(seconds).transpose()?;
        let reports = reports(form)?;
        self.world.archives.add(Archive { id: 0, name: form.name.clone(), bytes, reports, expires_in });
        Ok(())
    }

    pub(super) fn script(&mut self, form: &ScriptForm) -> Result<()> {
        let status = status(form.status.as_deref().unwrap_or("success")).map_err(|e| format!("status: {e}"))?;
        let archive = match &form.artifacts {
            None => None,
            Some(name) => {
                let found = self.world.archives.iter().find(|archive| archive.name == *name);
                Some(found.ok_or_else(|| format!("artifacts: there are no artifacts {name}"))?.id)
            }
        };
        let (name, text, coverage) = (form.name.clone(), form.text.clone(), form.coverage);
        self.world.scripts.add(Script { id: 0, name, text, status, coverage, archive });
        Ok(())
    }

    fn planned<'f>(&self, form: &'f WorldFile, name: &str, depth: usize) -> Result<Vec<(Planned, &'f JobForm)>> {
        let template = form.templates.iter().find(|template| template.name == name);
        let template = template.ok_or_else(|| format!("template: there is no template {name}"))?;
        let mut out = Vec::new();
        for job in &template.jobs {
            let runner = match &job.runner {
                None => None,
                Some(name) => {
                    let found = self.world.runners.iter().find(|runner| runner.description == *name);
                    Some(found.ok_or_else(|| format!("template.{}.runner: there is no runner {name}", job.name))?.id)
                }
            };
            if let Some(name) = &job.script
                && !self.world.scripts.iter().any(|script| script.name == *name)
            {
                return Err(format!("template.{}.script: there is no script {name}", job.name));
            }
            let triggers = match &job.trigger {
                Some(_) if depth == MAX_DEPTH => return Err(format!("template.{}.trigger: too deep", job.name)),
                Some(name) => self.planned(form, name, depth + 1)?.into_iter().map(|(planned, _)| planned).collect(),
                None => Vec::new(),
            };
            let planned = Planned {
                name: job.name.clone(),
                stage: job.stage.clone(),
                script: job.script.clone(),
                manual: job.manual,
                allow_failure: job.allow_failure,
                environment: job.environment.clone(),
                runner,
                tag_list: job.tags.clone(),
                triggers,
                ..Planned::default()
            };
            out.push((planned, job));
        }
        Ok(out)
    }

    /// Returns the properties of a pipeline: its project, user, commit and time.
    pub(super) fn plan(&self, one: &PipelineForm) -> Result<PipelinePlan> {
        let project = self.project_id(&one.project)?;
        let history = self.histories.get(&project).ok_or("project: has no repository")?;
        let tag = history.tags.get(&one.ref_name).map(|(_, commit)| *commit);
        let head = tag.or_else(|| history.branches.get(&one.ref_name).copied());
        let head = head.ok_or_else(|| format!("ref_name: there is no branch or tag {}", one.ref_name))?;
        let commit = history.back(head, one.back).ok_or("back: the history is not that long")?;
        let pushed = history.time(commit).unwrap_or(self.now);
        let after = if one.created.is_empty() { "+3m" } else { &one.created };
        let at = self.parse_time_after(after, pushed).map_err(|e| format!("created: {e}"))?;
        let user = self.user_id("user", &one.user)?;
        Ok(PipelinePlan {
            project,
            user,
            ref_name: one.ref_name.clone(),
            sha: commit.to_string(),
            tag: tag.is_some(),
            at,
            source: one.source.clone(),
        })
    }

    /// Protects the environment of a job, so that deployments to it need an approval.
    fn protect_environment(&mut self, job: &Job) {
        let Some(name) = job.environment.clone() else { return };
        let is_its = |row: &&Environment| row.project == job.project && row.name == name;
        let known = self.world.environments.iter().find(is_its).map(|row| row.id);
        match known {
            Some(id) => {
                if let Some(environment) = self.world.environments.get_mut(id) {
                    environment.required_approvals = 1;
                }
            }
            None => {
                let external_url = Some(format!("https://{name}.acme.example"));
                let (project, required_approvals) = (job.project, 1);
                let environment =
                    Environment { project, name, external_url, required_approvals, ..Environment::default() };
                self.world.environments.add(environment);
            }
        }
    }

    pub(super) fn pipeline(&mut self, form: &WorldFile, one: &PipelineForm, plan: &PipelinePlan) -> Result<u64> {
        let at = plan.at;
        let jobs = self.planned(form, &one.template, 0)?;
        let planned: Vec<Planned> = jobs.iter().map(|(planned, _)| planned.clone()).collect();
        let pipeline = runner::start(&mut self.world, plan, &planned);
        let is_file = false;
        let variables =
            one.variables.iter().map(|(key, value)| Variable { key: key.clone(), value: value.clone(), is_file });
        if let Some(record) = self.world.pipelines.get_mut(pipeline) {
            record.variables = variables.collect();
        }
        let ids: Vec<u64> = self.world.pipeline_jobs(pipeline).map(|job| job.id).collect();
        let mut clock = runner::saturating_add(at, SignedDuration::from_secs(2));
        let mut stage = String::new();
        let mut stage_end = clock;
        let (mut broken, mut waiting) = (false, false);
        let (mut broke, mut waits) = (false, false);
        let own_jobs = jobs.iter().filter(|(planned, _)| planned.triggers.is_empty());
        for (id, (planned, job)) in ids.into_iter().zip(own_jobs) {
            if stage != planned.stage {
                stage.clone_from(&planned.stage);
                clock = runner::saturating_add(stage_end, SignedDuration::from_secs(2));
                (broken, waiting) = (broken || broke, waiting || waits);
            }
            let outcome_text = one.outcome.get(&planned.name);
            let (word, script) = match outcome_text {
                Some(outcome_text) => outcome_text
                    .split_once(' ')
                    .map_or((outcome_text.as_str(), None), |(word, script)| (word, Some(script))),
                None if broken => ("skipped", None),
                None if waiting => ("created", None),
                None if planned.manual => ("manual", None),
                None => ("success", None),
            };
            let is_blocked = word == "blocked";
            let word = if is_blocked { "manual" } else { word };
            let status = status(word).map_err(|e| format!("outcome.{}: {e}", planned.name))?;
            broke |= matches!(status, Status::Failed | Status::Canceled) && !planned.allow_failure;
            waits |= matches!(status, Status::Pending | Status::Running | Status::Created) && outcome_text.is_some();
            let script = script.map(str::to_owned).or_else(|| planned.script.clone());
            if let Some(name) = &script
                && !self.world.scripts.iter().any(|script| script.name == *name)
            {
                return Err(format!("outcome.{}: there is no script {name}", planned.name));
            }
            let text = self.world.scripts.iter().find(|s| Some(&s.name) == script.as_ref()).map(|s| s.text.clone());
            let own = text.map_or(20_000_000_000, |text| script::Script::parse(&text).duration());
            let length = match job.seconds {
                // It was canceled while it was printing.
                _ if status == Status::Canceled => own / 5 * 2,
                Some(seconds) => u128::from(seconds) * 1_000_000_000,
                None => own,
            };
            let end =
                runner::saturating_add(clock, SignedDuration::from_nanos(i64::try_from(length).unwrap_or(i64::MAX)));
            let any = planned.runner.or_else(|| {
                self.world.runners.iter().find(|r| r.is_shared && r.active && r.contacted_at.is_some()).map(|r| r.id)
            });
            let Some(record) = self.world.jobs.get_mut(id) else { continue };
            record.status = status;
            record.script = script;
            // Without a script, jobs that are waiting or running stay so forever.
            if matches!(status, Status::Created | Status::Pending | Status::Running) {
                record.script = None;
            }
            if status.is_finished() {
                record.started_at = Some(clock);
                record.finished_at = Some(end);
                record.runner = any;
                record.coverage = job.coverage.filter(|_| status == Status::Success);
                stage_end = stage_end.max(end);
            }
            if status == Status::Running {
                record.started_at = Some(clock);
                record.runner = any;
            }
            let record = record.clone();
            if matches!(status, Status::Success | Status::Failed) {
                let left = runner::artifacts(&self.world, &record, end);
                if let Some(record) = self.world.jobs.get_mut(id) {
                    record.artifacts = left;
                }
            }
            if status == Status::Success {
                runner::deploy(&mut self.world, &record, end);
            }
            if is_blocked {
                self.protect_environment(&record);
                runner::block(&mut self.world, &record, clock);
            }
        }
        let bridges: Vec<Bridge> = self.world.pipeline_bridges(pipeline).cloned().collect();
        for bridge in bridges {
            let template =
                jobs.iter().find(|(planned, _)| planned.name == bridge.name).and_then(|(_, job)| job.trigger.clone());
            let before = format!("{}/", bridge.name);
            let of_child =
                |(job, text): (&String, &String)| Some((job.strip_prefix(&before)?.to_owned(), text.clone()));
            let child = PipelineForm {
                template: template.unwrap_or_default(),
                outcome: one.outcome.iter().filter_map(of_child).collect(),
                ..one.clone()
            };
            let plan = PipelinePlan { source: PARENT_PIPELINE.into(), at: clock, ..plan.clone() };
            let id = self.pipeline(form, &child, &plan)?;
            if let Some(bridge) = self.world.bridges.get_mut(bridge.id) {
                (bridge.status, bridge.finished_at, bridge.downstream) = (Status::Success, Some(clock), Some(id));
            }
        }
        self.world.update_pipeline_status(pipeline);
        Ok(pipeline)
    }

    pub(super) fn schedule(&mut self, form: &WorldFile, one: &ScheduleForm) -> Result<()> {
        let project = self.project_id(&one.project)?;
        let history = self.histories.get(&project).cloned().ok_or("project: has no repository")?;
        let mut refs = Vec::new();
        for name in &one.refs {
            let head = history.branches.get(name).ok_or_else(|| format!("refs: there is no branch {name}"))?;
            refs.push((name.clone(), head.to_string()));
        }
        let jobs = self.planned(form, &one.template, 0)?.into_iter().map(|(planned, _)| planned).collect();
        let user = self.user_id("user", &one.user)?;
        let (pause, head_start) = (one.pause, one.head_start);
        self.world.schedules.add(Schedule { project, user, refs, jobs, pause, head_start, ..Schedule::default() });
        Ok(())
    }
}

/// Packs the files that are reports, each on its own as runners upload them.
fn reports(form: &ArtifactsForm) -> Result<Vec<ReportFile>> {
    let report = |file: &FileForm| {
        let file_type = file.report.clone()?;
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        let bytes = packed.write_all(file.text.as_bytes()).and_then(|()| packed.finish());
        let filename = format!("{}.gz", file.path.rsplit('/').next().unwrap_or_default());
        Some(
            bytes
                .map(|bytes| ReportFile { file_type, filename, bytes })
                .map_err(|e| format!("files.{}: {e}", file.path)),
        )
    };
    form.files.iter().filter_map(report).collect()
}

/// Packs files into a zip archive. The result is always the same, because the files have no dates.
fn pack(form: &ArtifactsForm) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).unix_permissions(0o644);
    for file in &form.files {
        let fail = |why: &dyn std::fmt::Display| format!("files.{}: {why}", file.path);
        if let Some(target) = &file.link {
            zip.add_symlink(file.path.as_str(), target.as_str(), options).map_err(|e| fail(&e))?;
            continue;
        }
        zip.start_file(file.path.as_str(), options).map_err(|e| fail(&e))?;
        let written = match (&file.rule, file.zeros) {
            (Some(rule), _) => {
                let bytes = generate::bytes(rule).ok_or_else(|| fail(&format!("there is no rule {rule}")))?;
                zip.write_all(&bytes)
            }
            (None, Some(count)) => std::io::copy(&mut std::io::repeat(0).take(count), &mut zip).map(drop),
            (None, None) => zip.write_all(file.text.as_bytes()),
        };
        written.map_err(|e| fail(&e))?;
    }
    Ok(zip.finish().map_err(|e| e.to_string())?.into_inner())
}
