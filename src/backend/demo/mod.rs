//! The demo world: made by code from the files under `assets/world/`, the same every time.

pub mod archive;
pub mod generate;
pub mod histories;
pub mod history;
pub mod load;
pub mod repository;
pub mod schema;
pub mod script;
