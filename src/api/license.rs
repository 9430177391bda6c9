//! The license of the server, for administrators (specification, "License").

use crate::api::{Named, Time};

crate::resource! {
    /// Who may use the server, and until when.
    pub struct License {
        /// A date.
        starts_at: Option<Time>,
        /// A date.
        expires_at: Option<Time>,
        licensee: Option<Licensee>,
        user_limit: Option<u64>,
        active_users: Option<u64>,
        /// Names and how many of each.
        add_ons: Named<u64>,
    }
    newer {
        plan: String,
        expired: bool,
    }
}

crate::resource! {
    /// To whom it was given.
    #[serde(rename_all = "PascalCase")]
    pub struct Licensee {
        name: Option<String>,
        company: Option<String>,
        email: Option<String>,
    }
}

crate::endpoints! {
    section "License";

    /// Reads the license; `None` if none is installed.
    GET "/license" => Option<License>;
    struct GetLicense {}

    /// Installs a license.
    POST "/license" => License,
    touches [GetLicense];
    struct AddLicense { license: String }
}
