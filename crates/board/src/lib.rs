//! A folder of public runs in; the pages of a site out. Equal folders make equal sites, byte for byte: no clock, no
//! address of the machine and no order of files is in it.

mod badge;
mod changes;
mod data;
mod feed;
mod folder;
pub mod init;
mod pages;
mod place;
mod ranking;
mod repetition;
mod rows_table;
mod settings;
mod site;
mod slug;
mod summary;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use place::{Disk, PARTS, Place, is_site};
pub use settings::Refused;
pub use site::{Built, site};
