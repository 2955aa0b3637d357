//! How values are written in JSON, where serde's own way is not enough.

/// A whole number that may be too large for JSON readers: then it is a string of digits.
pub(crate) mod large {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }

    #[allow(clippy::trivially_copy_pass_by_ref)] // serde requires it
    pub(crate) fn serialize<S: Serializer>(
        number: &u128,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match u64::try_from(*number) {
            Ok(number) if i64::try_from(number).is_ok() => Written::Number(number),
            Ok(_) | Err(_) => Written::Text(number.to_string()),
        }
        .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u128, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(u128::from(number)),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// Counts by the names of what is counted, without zeros.
macro_rules! by_name {
    ($module:ident, $type:ty) => {
        pub(crate) mod $module {
            use std::collections::BTreeMap;

            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            type Counts = [u64; <$type>::COUNT];

            pub(crate) fn serialize<S: Serializer>(
                counts: &Counts,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let all = <$type>::ALL.into_iter().zip(counts);
                let named = all.filter(|(_, count)| 0 < **count);
                let named: BTreeMap<&str, u64> =
                    named.map(|(kind, count)| (kind.name(), *count)).collect();
                named.serialize(serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Counts, D::Error> {
                let mut counts = [0; <$type>::COUNT];
                for (name, count) in BTreeMap::<String, u64>::deserialize(deserializer)? {
                    let kind = <$type>::named(&name).ok_or_else(|| {
                        serde::de::Error::custom(format!(
                            "`{}` is not a failure that this dyno knows; a newer one may",
                            name.escape_debug()
                        ))
                    })?;
                    counts[kind.index()] = count;
                }
                Ok(counts)
            }
        }
    };
}

by_name!(failures, crate::Failure);
by_name!(losses, crate::Loss);

/// Nanoseconds as seconds: exact for what happens within 26 days.
pub mod seconds {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Nanos;

    #[allow(clippy::trivially_copy_pass_by_ref)] // serde requires it
    pub fn serialize<S: Serializer>(ns: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(*ns as f64 / 1e9)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
        f64::deserialize(deserializer).map(|seconds| (seconds * 1e9).round() as Nanos)
    }
}

pub(crate) mod bytes {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}
