//! Concrete values of the inputs of one path.

use std::sync::Arc;

/// One input in the order the program asked for it.
///
/// Several inputs may share a name (a loop that asks again); order tells them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputValue {
    pub name: Arc<str>,
    /// C spelling of the declared type where known (`int`, `char[16]`), else `bytes`.
    pub ty: Arc<str>,
    /// Little-endian memory image.
    pub bytes: Vec<u8>,
}
