//! Enums whose values have names.

/// Makes an enum whose values have names, in one list: `Empty = "recv.empty",`. What each means may stand behind its name:
/// `Empty = "recv.empty" => "closed without a byte",`. One value may hold those of another enum, which has made its list
/// in the same way: `Wire(fault: WireFault),`.
#[macro_export]
macro_rules! named {
    (@first $name:ident, $value:ident, $($rest:tt)*) => { $name::$value };
    (@first $name:ident, $value:ident ($of:ty), $($rest:tt)*) => { $name::$value(<$of>::ALL[0]) };
    (@core $(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$what:meta])* $value:ident $(($inner:ident: $of:ty))? $(= $word:literal)?,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$what])* $value $(($of))?,)+ }

        impl $name {
            /// How many there are.
            $vis const COUNT: usize = {
                let mut count = 0;
                $($(count += <$of>::COUNT;)? $(let _: &str = $word; count += 1;)?)+
                count
            };

            /// All of them, in their order.
            $vis const ALL: [$name; $name::COUNT] = {
                let mut all = [$crate::named!(@first $name, $($value $(($of))?,)+); $name::COUNT];
                let mut at = 0;
                $(
                    $(
                        let mut inner = 0;
                        while inner < <$of>::COUNT {
                            all[at + inner] = $name::$value(<$of>::ALL[inner]);
                            inner += 1;
                        }
                        at += inner;
                    )?
                    $(let _: &str = $word; all[at] = $name::$value; at += 1;)?
                )+
                assert!(at == $name::COUNT);
                all
            };

            /// As it is written in rows, in JSON and on the command line.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self { $($name::$value $(($inner))? => $($inner.name())? $($word)?,)+ }
            }

            /// The value with this name.
            #[must_use]
            $vis fn named(name: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|it| it.name() == name)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$what:meta])* $value:ident $(($inner:ident: $of:ty))? $(= $word:literal => $meaning:literal)?,)+
    }) => {
        $crate::named! { @core
            $(#[$about])*
            $vis enum $name {
                $($(#[$what])* $(#[doc = $meaning])? $value $(($inner: $of))? $(= $word)?,)+
            }
        }

        impl $name {
            /// The meaning, in a few words.
            #[must_use]
            $vis const fn meaning(self) -> &'static str {
                match self { $($name::$value $(($inner))? => $($inner.meaning())? $($meaning)?,)+ }
            }
        }
    };
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$what:meta])* $value:ident = $word:literal,)+
    }) => {
        $crate::named! { @core
            $(#[$about])*
            $vis enum $name { $($(#[$what])* $value = $word,)+ }
        }
    };
}

#[cfg(test)]
mod tests {
    named! {
        enum Inner {
            A = "a" => "the first",
            B = "b" => "the second",
        }
    }

    named! {
        enum Outer {
            X = "x" => "before",
            Of(inner: Inner),
            Y = "y" => "behind",
        }
    }

    #[test]
    fn a_list_has_its_own_values_and_those_of_another_list_where_they_stand() {
        assert_eq!(Outer::ALL, [Outer::X, Outer::Of(Inner::A), Outer::Of(Inner::B), Outer::Y]);
        assert_eq!(Outer::ALL.map(Outer::name), ["x", "a", "b", "y"]);
        assert_eq!(Outer::named("b").map(Outer::meaning), Some("the second"));
        assert_eq!((Outer::named("z"), Inner::named("x")), (None, None));
        assert_eq!(Outer::Of(Inner::A).to_string(), "a");
    }
}
