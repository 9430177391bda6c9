//! The names that a place with a list needs.

pub use crate::app::App;
pub use crate::app::action::Action;
pub use crate::app::clip::Clip;
pub use crate::app::command::Command;
pub use crate::app::command_info::Disabled;
pub use crate::app::context::Cx;
pub use crate::app::place::Place;
pub use crate::app::view::View;
pub use crate::parts::facts::Details;
pub use crate::parts::list::columns::{Column, ServerOrder, SortKey};
pub use crate::parts::list::detail::{Describes, TextDetail};
pub use crate::parts::list::pane::ListPane;
pub use crate::parts::list::source::{Filter, Input, ListCommand, ListInfo, ListKey, ListSource, ListTabs, NoDetail};
pub use crate::store::{ListQuery, Want, Write};
pub use crate::ui::line::Line;
pub use crate::ui::table::{Size, TableRow};
pub use crate::ui::theme::Role;
pub use std::borrow::Cow;
