//! The details of a group, or of a project in the tree.

use crate::api::groups::Group;
use crate::api::projects::Project;
use crate::app::clip::Clip;
use crate::app::place::Place;
use crate::app::view::View;
use crate::domain::roles;
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::text::dates::time_ago;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// The maximum number of projects listed; the tree shows all of them.
const MAX_LISTED: usize = 12;

/// The panes of a group with their titles.
const GROUP_PANES: &[(&str, &str)] = &[
    ("issues", "Issues"),
    ("mrs", "Merge requests"),
    ("team", "Team"),
    ("labels", "Labels"),
    ("milestones", "Milestones"),
    ("members", "Members"),
];

/// Writes the details of a group. `size` is the group as listed, with its statistics.
pub fn group(facts: &mut Details, view: &View, group: &Group, size: Option<&Group>) {
    facts.field("name", Line::new(group.full_name.clone(), Role::Title), None);
    let path = if group.full_path.is_empty() { &group.path } else { &group.full_path }.to_owned();
    facts.field("path", Line::new(path.clone(), Role::Ref), Some(LinkTarget::Copy(Clip::line("path", path))));
    let mut seen = Line::new(group.visibility.to_string(), Role::Text);
    if group.archived == Some(true) {
        seen.push(format!("{}archived", glyph::separator()), Role::Warning);
    }
    if let Some(day) = group.marked_for_deletion_on.as_ref() {
        seen.push(format!("{}to be deleted, marked on {day}", glyph::separator()), Role::Failed);
    }
    facts.field("visibility", seen, None);
    let about = text::wrap(group.description.as_deref().unwrap_or_default(), 52, 6);
    for (index, line) in about.into_iter().enumerate() {
        facts.field(if index == 0 { "about" } else { "" }, Line::new(line, Role::Text), None);
    }
    let created = time_ago(view, group.created_at.as_ref());
    if !created.is_empty() {
        facts.field("created", Line::new(created, Role::Text), None);
    }
    let state = |on: bool| if on { "on" } else { "off" };
    for (name, on) in [("LFS", group.lfs_enabled), ("access requests", group.request_access_enabled)] {
        facts.field(name, Line::new(state(on), Role::Dim), None);
    }
    if let Some(minutes) = group.shared_runners_minutes_limit.as_ref() {
        facts.field("minutes", Line::new(format!("{} on shared runners", text::count(*minutes)), Role::Text), None);
    }
    if let Some(sizes) = size.unwrap_or(group).statistics.as_ref() {
        let parts = [
            ("repositories", sizes.repository_size),
            ("LFS", sizes.lfs_objects_size),
            ("artifacts", sizes.job_artifacts_size),
        ];
        facts.field("storage", Line::new(text::bytes(sizes.storage_size), Role::Text), None);
        for (name, size) in parts.into_iter().filter(|(_, size)| *size > 0) {
            facts.field("", Line::new(format!("{} {name}", text::bytes(size)), Role::Dim), None);
        }
    }
    for (index, link) in group.ldap_group_links.iter().flatten().enumerate() {
        let name = if index == 0 { "directory" } else { "" };
        let cn = link.cn.clone().unwrap_or_default();
        let level = roles::role(link.group_access);
        let pieces = Line::new(cn, Role::Label).and(format!("  {level} from {}", link.provider), Role::Dim);
        facts.field(name, pieces, None);
    }
    for (index, attribute) in group.custom_attributes.iter().flatten().enumerate() {
        let pieces = Line::new(format!("{} ", attribute.key), Role::Label).and(attribute.value.clone(), Role::Text);
        facts.field(if index == 0 { "attributes" } else { "" }, pieces, None);
    }
    facts.line(Line::empty());
    for (name, words) in GROUP_PANES {
        let place = Place::new(name).group(group.path_or_id().as_ref());
        facts.field("", Line::new((*words).to_owned(), Role::Link), Some(LinkTarget::Place(place)));
    }
    for (name, projects) in [("projects", &group.projects), ("shared", &group.shared_projects)] {
        let all = projects.as_deref().unwrap_or_default();
        for (index, project) in all.iter().take(MAX_LISTED).enumerate() {
            if index == 0 {
                facts.line(Line::empty());
            }
            let place = Place::new("files").project(project.path_with_namespace.as_str());
            let pieces = Line::new(project.path_with_namespace.clone(), Role::Link);
            facts.field(if index == 0 { name } else { "" }, pieces, Some(LinkTarget::Place(place)));
        }
        if all.len() > MAX_LISTED {
            let more = format!("{} more", text::count((all.len() - MAX_LISTED) as u64));
            facts.field("", Line::new(more, Role::Dim), None);
        }
    }
}

/// Writes the details of a project in the tree.
pub fn project(facts: &mut Details, view: &View, project: &Project) {
    let path = view.full_path(project).into_owned();
    facts.field("path", Line::new(path.clone(), Role::Ref), Some(LinkTarget::Copy(Clip::line("path", path.clone()))));
    let visibility = project.visibility().map(|word| word.as_str().to_owned()).unwrap_or_default();
    facts.field("visibility", Line::new(visibility, Role::Text), None);
    if project.is_archived() {
        facts.field("", Line::new("archived", Role::Warning), None);
    }
    let about = project.description().lines().next().unwrap_or_default();
    for (index, line) in text::wrap(about, 52, 6).into_iter().enumerate() {
        facts.field(if index == 0 { "about" } else { "" }, Line::new(line, Role::Text), None);
    }
    facts.field("active", Line::new(time_ago(view, project.last_activity_at.as_ref()), Role::Text), None);
    facts.line(Line::empty());
    for (name, words) in [("overview", "Overview"), ("files", "Files"), ("mrs", "Merge requests"), ("issues", "Issues")]
    {
        let place = Place::new(name).project(path.as_str());
        facts.field("", Line::new(words.to_owned(), Role::Link), Some(LinkTarget::Place(place)));
    }
}
