//! Namespaces: users and groups, as the places of projects.

use super::call::{Outcome, ReadCall, ok};
use super::mount::Mount;
use super::presenters::contains_ignore_case;
use super::records::{self, level};
use super::rejection::Rejection;
use api::Id;
use api::projects::Namespace;

pub fn mount(mount: Mount) -> Mount {
    mount.read_signed_in::<ListNamespaces>(list).read_signed_in::<GetNamespace>(get)
}

api::endpoints! {
    unspecified section "Namespaces";

    /// Lists the caller's own namespace and the groups in which the caller may create projects; all for administrators.
    GET "/namespaces" => Vec<Namespace>;
    struct ListNamespaces {
        /// Part of the name or path.
        search: Option<String>,
    }

    /// Gets a namespace by its ID or path.
    GET "/namespaces/{id}" => Namespace;
    struct GetNamespace { id: Id }
}

/// Returns the namespaces in which the caller may create projects, by path.
fn own(call: &ReadCall) -> Vec<records::Namespace> {
    let (world, rights) = (call.world, &call.rights);
    let users = world.users.iter().filter(|user| !user.is_ghost && (rights.admin || rights.user == Some(user.id)));
    let groups = world.groups.iter().filter(|group| rights.group_level(world, group.id) >= level::DEVELOPER);
    let users = users.map(|user| records::Namespace::User(user.id));
    let mut all: Vec<_> = users.chain(groups.map(|group| records::Namespace::Group(group.id))).collect();
    all.sort_by_cached_key(|namespace| world.namespace_path(*namespace));
    all
}

fn list(call: &ReadCall, input: ListNamespaces) -> Outcome<Vec<Namespace>> {
    let part = input.search.unwrap_or_default();
    let fits = |namespace: &records::Namespace| {
        contains_ignore_case(&call.world.namespace_path(*namespace), &part)
            || contains_ignore_case(&call.world.namespace_name(*namespace), &part)
    };
    call.page(own(call).into_iter().filter(fits).collect(), |namespace| call.show_namespace(namespace))
}

fn get(call: &ReadCall, input: GetNamespace) -> Outcome<Namespace> {
    let is_it = |namespace: &records::Namespace| {
        let id = match namespace {
            records::Namespace::User(id) => call.world.users.get(*id).map_or(0, |user| user.namespace_id),
            records::Namespace::Group(id) => *id,
        };
        input.id.names(id, &call.world.namespace_path(*namespace))
    };
    let groups = call.world.groups.iter().filter(|group| call.rights.can_see_group(call.world, group));
    let groups = groups.map(|group| records::Namespace::Group(group.id));
    let found = own(call).into_iter().chain(groups).find(is_it);
    ok(call.show_namespace(found.ok_or_else(|| Rejection::not_found("Namespace"))?))
}
