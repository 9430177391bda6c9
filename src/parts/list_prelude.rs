//! The names that a place with a list needs.

pub use super::columns::{Column, ServerOrder, SortKey};
pub use super::facts::Details;
pub use super::list_detail::{Describes, TextDetail};
pub use super::list_pane::ListPane;
pub use super::list_source::{Filter, Input, ListCommand, ListInfo, ListKey, ListSource, ListTabs, NoDetail};
pub use crate::app::App;
pub use crate::app::action::Action;
pub use crate::app::clip::Clip;
pub use crate::app::command::Command;
pub use crate::app::command_info::Disabled;
pub use crate::app::context::Cx;
pub use crate::app::place::Place;
pub use crate::app::view::View;
pub use crate::store::{ListQuery, Want, Write};
pub use crate::ui::line::Line;
pub use crate::ui::table::{Size, TableRow};
pub use crate::ui::theme::Role;
pub use std::borrow::Cow;
