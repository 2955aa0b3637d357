//! A type of JSON and how it is filled, in one list: each field is one entry.

/// Writes a type that is written as JSON, and how it is made. A field has the sentence that explains it, its type, and
/// where its value comes from; without that, it is the source's field of the same name. What several
/// fields need is computed once, before them. A type with the name of a schema is a whole document, and begins with it.
macro_rules! json_type {
    (
        $(#[$about:meta])*
        $vis:vis struct $Name:ident $(<$life:lifetime>)? as $title:literal $(, $schema:tt)?
            of $it:ident: $Of:ty $(, with $more:ident: $More:ty)?
            $(; $(let $known:pat = $once:expr;)+)?
        {
            $($(#[$is:meta])* $shown:vis $field:ident: $Type:ty $(= $value:expr)?),* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(serde::Serialize, schemars::JsonSchema)]
        #[schemars(rename = $title)]
        $vis struct $Name $(<$life>)? {
            $(
                /// which document this is
                #[schemars(extend("const" = $schema))]
                schema: &'static str,
                /// the dyno that wrote it
                dyno_version: &'static str,
            )?
            $($(#[$is])* $shown $field: $Type),*
        }

        $crate::json::typed::made! {
            [$($life)?] $vis $Name of $it: $Of $(, with $more: $More)? {
                $($(let $known = $once;)+)?
                $Name {
                    $(schema: $schema, dyno_version: env!("CARGO_PKG_VERSION"),)?
                    $($field: $crate::json::typed::value!($it $field $(= $value)?)),*
                }
            }
        }
    };
}

/// How it is made: of one thing by `From`, or of several by `of`.
macro_rules! made {
    ([$($life:lifetime)?] $vis:vis $Name:ident of $it:ident: $Of:ty $made:block) => {
        impl $(<$life>)? From<&$($life)? $Of> for $Name $(<$life>)? {
            fn from($it: &$($life)? $Of) -> Self $made
        }
    };
    (
        [$($life:lifetime)?] $vis:vis $Name:ident of $it:ident: $Of:ty, with $more:ident: $More:ty
        $made:block
    ) => {
        impl $(<$life>)? $Name $(<$life>)? {
            $vis fn of($more: &$($life)? $More, $it: &$($life)? $Of) -> Self $made
        }
    };
}

macro_rules! value {
    ($it:ident $field:ident) => {
        $it.$field
    };
    ($it:ident $field:ident = $value:expr) => {
        $value
    };
}

pub(crate) use {json_type, made, value};
