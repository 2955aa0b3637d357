//! The items of a data set, and lists of the first of them, with totals.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
pub struct Item {
    id: u64,
    name: String,
    category: String,
    price: u64,
    quantity: u64,
    active: bool,
    tags: Vec<String>,
    rating: Rating,
}

#[derive(Deserialize, Serialize)]
struct Rating {
    score: u64,
    count: u64,
}

#[derive(Serialize)]
pub struct List<'a> {
    items: Vec<PricedItem<'a>>,
    count: usize,
}

#[derive(Serialize)]
struct PricedItem<'a> {
    #[serde(flatten)]
    item: &'a Item,
    total: u64,
}

pub fn read(path: &Path) -> Result<Vec<Item>, Box<dyn Error + Send + Sync>> {
    Ok(serde_json::from_reader(BufReader::new(File::open(path)?))?)
}

/// None of no items, nor of more than there are.
pub fn list(items: &[Item], count: usize, m: u32) -> Option<List<'_>> {
    let items = items.get(..count).filter(|items| !items.is_empty())?;
    let total = |item: &Item| item.price * item.quantity * u64::from(m);
    let items = items.iter().map(|item| PricedItem { item, total: total(item) }).collect();
    Some(List { items, count })
}
