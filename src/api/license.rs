//! The license of the server; administrators only (specification, "License").

use crate::{Named, Time};

crate::resource! {
    /// The license of the server: licensee, validity and limits.
    pub struct License {
        /// The date from which the license is valid.
        starts_at: Option<Time>,
        /// The date on which the license expires.
        expires_at: Option<Time>,
        licensee: Option<Licensee>,
        user_limit: Option<u64>,
        active_users: Option<u64>,
        /// The number of each add-on, by name.
        add_ons: Named<u64>,
    }
    unspecified {
        plan: Option<String>,
        expired: Option<bool>,
    }
}

crate::resource! {
    /// The person or company that the license was issued to.
    #[serde(rename_all = "PascalCase")]
    pub struct Licensee {
        name: Option<String>,
        company: Option<String>,
        email: Option<String>,
    }
}

crate::endpoints! {
    section "License";

    /// Gets the license, or `None` if none is installed.
    GET "/license" => Option<License>, about License;
    struct GetLicense {}

    /// Installs a license.
    POST "/license" => License,
    outdates [License];
    struct AddLicense { license: String }
}
