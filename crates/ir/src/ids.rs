//! Typed indices: one type per table, so that no table can be indexed with another's number.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            #[inline]
            pub fn new(idx: usize) -> Self {
                Self(u32::try_from(idx).expect("more than 2^32 entries in one table"))
            }

            #[inline]
            pub fn idx(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self, f)
            }
        }
    )*};
}

ids! {
    /// Index into `Module::functions`.
    FuncId "f";
    /// Index into `Function::blocks`.
    BlockId "b";
    /// Index into `Module::globals`.
    GlobalId "g";
    /// Index into `Function::calls`.
    CallId "c";
    /// First 64-bit slot of a register.
    Reg "r";
    /// Index into `Module::types`.
    SourceTypeId "t";
    /// Index into `Module::files`.
    FileId "file";
    /// Index into `Module::spans`; 0 is "no position".
    SpanId "s";
}
