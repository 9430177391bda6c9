//! Pages of GitLab that labscope has no place for: the palette knows their names and opens them in the browser.

use super::App;
use super::action::Action;
use super::overlay::picker::{Item, WEB_PAGES};
use super::tone::Tone;
use api::Id;
use ui::text::sanitize;

/// A page: its name and its title, other words that find it, and its addresses below a project, below a group and below
/// the server.
pub struct WebPage {
    pub name: &'static str,
    title: &'static str,
    synonyms: &'static [&'static str],
    project: Option<&'static str>,
    group: Option<&'static str>,
    server: Option<&'static str>,
}

impl WebPage {
    const fn new(name: &'static str, title: &'static str, synonyms: &'static [&'static str]) -> WebPage {
        WebPage { name, title, synonyms, project: None, group: None, server: None }
    }

    const fn of_project(mut self, page: &'static str) -> WebPage {
        self.project = Some(page);
        self
    }

    const fn of_group(mut self, page: &'static str) -> WebPage {
        self.group = Some(page);
        self
    }

    const fn of_server(mut self, page: &'static str) -> WebPage {
        self.server = Some(page);
        self
    }
}

/// The pages, with their addresses as links to gitlab.com spell them.
pub const PAGES: &[WebPage] = &[
    WebPage::new("webhooks", "Webhooks", &["hooks", "project hooks"]).of_project("-/hooks").of_group("-/hooks"),
    WebPage::new("tokens", "Access tokens", &["access tokens", "project access tokens", "group access tokens"])
        .of_project("-/settings/access_tokens")
        .of_group("-/settings/access_tokens"),
    WebPage::new("personal tokens", "Personal access tokens", &["personal access tokens", "api token", "pat"])
        .of_server("-/user_settings/personal_access_tokens"),
    WebPage::new("deploy keys", "Deploy keys", &["deploy keys", "ssh keys"])
        .of_project("-/settings/repository#js-deploy-keys-settings"),
    WebPage::new("deploy tokens", "Deploy tokens", &["deploy tokens"])
        .of_project("-/settings/repository#js-deploy-tokens")
        .of_group("-/settings/repository#js-deploy-tokens"),
    WebPage::new("wiki", "Wiki", &["wiki pages", "documentation"]).of_project("-/wikis/home").of_group("-/wikis/home"),
    WebPage::new("boards", "Issue boards", &["issue boards", "kanban"]).of_project("-/boards").of_group("-/boards"),
    WebPage::new("packages", "Package registry", &["package registry", "npm", "maven", "pypi"])
        .of_project("-/packages")
        .of_group("-/packages"),
    WebPage::new("container registry", "Container registry", &["docker", "container images"])
        .of_project("container_registry")
        .of_group("-/container_registries"),
];

impl App {
    /// Returns picker items for the pages of the current project or group.
    pub(super) fn web_page_items(&self) -> Vec<Item> {
        let (here, root) = (self.place_in_project(), self.session.web_url.trim_end_matches('/'));
        let path = |id: &Id| match id.number() {
            None => Some(id.to_string()),
            Some(number) => {
                let view = self.view_of();
                view.known_projects()
                    .find(|project| project.id == number)
                    .map(|project| view.full_path(project).into_owned())
            }
        };
        let project = here.project.as_ref().and_then(path);
        let group = self.place().group.filter(|_| self.place().project.is_none());
        let item = |page: &WebPage| {
            let url = match (page.server, page.project, page.group, &project, &group) {
                (Some(page), ..) => Ok(format!("{root}/{page}")),
                (_, _, Some(page), _, Some(group)) => Ok(format!("{root}/groups/{group}/{page}")),
                (_, Some(page), _, Some(project), _) => Ok(format!("{root}/{project}/{page}")),
                _ => Err("select a project first"),
            };
            let (url, why_not) = url.map_or_else(|why| (String::new(), Some(why)), |url| (url, None));
            let say = Action::Say(Tone::Info, format!("Opening {}", sanitize(&url)));
            let item = Item::act(page.name, Action::All(vec![say, Action::Browse(url)])).detail(page.title);
            let item = item.context("not in labscope: opens its web page").synonyms(page.synonyms);
            item.group(WEB_PAGES).unless(why_not)
        };
        PAGES.iter().map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages that GitLab routes below a project, a group and the server, with the file of gitlab-org/gitlab that says so:
    /// as of 17 for projects and users, and of 18 for groups. Those in `ee/` exist on paid tiers alone.
    const ROUTES: &[(&str, &str, &str)] = &[
        ("project", "-/hooks", "config/routes/project.rb"),
        ("project", "-/settings/access_tokens", "config/routes/project.rb"),
        ("project", "-/settings/repository", "config/routes/project.rb"),
        ("project", "-/wikis/home", "config/routes/wiki.rb"),
        ("project", "-/boards", "config/routes/project.rb"),
        ("project", "-/packages", "config/routes/project.rb"),
        // One of the few that are not below `-`.
        ("project", "container_registry", "config/routes/project.rb"),
        ("group", "-/hooks", "ee/config/routes/group.rb"),
        ("group", "-/settings/access_tokens", "config/routes/group.rb"),
        ("group", "-/settings/repository", "config/routes/group.rb"),
        ("group", "-/wikis/home", "ee/config/routes/group.rb"),
        ("group", "-/boards", "config/routes/group.rb"),
        ("group", "-/packages", "config/routes/group.rb"),
        ("group", "-/container_registries", "config/routes/group.rb"),
        ("server", "-/user_settings/personal_access_tokens", "config/routes/user_settings.rb"),
    ];

    /// The sections to which GitLab itself leads after a token was revoked (`app/controllers/projects/deploy_tokens_controller.rb`
    /// and that of groups) and from its list of deploy keys (`app/helpers/search_settings_helper.rb`), in 17.
    const SECTIONS: &[&str] = &["js-deploy-keys-settings", "js-deploy-tokens"];

    #[test]
    fn every_page_has_a_route_of_gitlab() {
        let pages = PAGES.iter().flat_map(|page| {
            [("project", page.project), ("group", page.group), ("server", page.server)]
                .into_iter()
                .filter_map(|(below, address)| Some((page.name, below, address?)))
        });
        let mut used = Vec::new();
        for (name, below, address) in pages {
            let (path, section) = address.split_once('#').map_or((address, None), |(path, id)| (path, Some(id)));
            let route = ROUTES.iter().position(|(of, route, _)| (*of, *route) == (below, path));
            assert!(route.is_some(), "{name}: {address} below a {below} is no route");
            assert!(section.is_none_or(|section| SECTIONS.contains(&section)), "{name}: {address}");
            used.extend(route);
        }
        assert!((0..ROUTES.len()).all(|route| used.contains(&route)), "a route that no page uses");
    }
}
