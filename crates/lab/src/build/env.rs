//! What a build sees of the user's environment.

use super::BuildCache;
use crate::need::Need;

impl BuildCache {
    /// Whether a program of this name is on the user's PATH.
    #[must_use]
    pub fn has_program(&self, name: &str) -> bool {
        Need::parse(name).is_ok_and(|need| need.is_met(self.around()))
    }

    /// The variables that find tools, those that reach the packages to fetch, and those that the manifest passes.
    /// Third-party install scripts run in builds, and the rest of the environment may hold secrets.
    pub(super) fn for_builds<'a>(
        &'a self,
        passes: &'a [String],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let is_seen = |name: &str| {
            SEEN_BY_BUILDS.contains(&name.to_ascii_uppercase().as_str())
                || passes.iter().any(|passed| passed == name)
        };
        let pairs = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        pairs.filter(move |(name, _)| is_seen(name))
    }
}

/// Variables that builds see, and the same names in lower case (`http_proxy`, `npm_config_registry`).
const SEEN_BY_BUILDS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    // How the network is reached, and which certificates it is to trust.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NIX_SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    // Where packages come from.
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "PIP_CACHE_DIR",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_USERCONFIG",
    "NPM_CONFIG_GLOBALCONFIG",
    "GOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "HEX_MIRROR",
    "BUNDLE_MIRROR__ALL",
    // Where tools keep their files.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "PYENV_ROOT",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "GEM_HOME",
    "MIX_HOME",
    "HEX_HOME",
    "ERL_LIBS",
];
