//! Labels of projects.

use super::call::Call;
use super::records;
use super::world::World;
use crate::api::labels::Label;
use std::ops::Deref;

impl<W: Deref<Target = World>> Call<W> {
    /// A label on the wire.
    pub fn show_label(&self, label: &records::Label) -> Label {
        Label {
            id: label.id,
            name: label.name.clone(),
            color: label.color.clone(),
            description: Some(label.description.clone()).filter(|text| !text.is_empty()),
            ..Label::default()
        }
    }
}
