//! The items of a data set in HttpArena's format, and the answers that are made of them. Their JSON has a form of the
//! oracle's own: the total before all other members, which stand in the order of their names.

use serde_json::{Map, Value};

use crate::octets::push_number;

/// Items with a price and a quantity.
#[derive(Debug)]
pub struct Dataset {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    /// Price × quantity.
    worth: u64,
    /// Its members as JSON, without the brace that opens it.
    members: String,
}

impl Dataset {
    pub fn parse(bytes: &[u8]) -> Result<Dataset, String> {
        let listed: Vec<Map<String, Value>> = serde_json::from_slice(bytes)
            .map_err(|error| format!("no JSON array of objects: {error}"))?;
        let mut items = Vec::with_capacity(listed.len());
        for members in listed {
            let worth = worth(&members).ok_or_else(|| {
                format!("item {}: `price` and `quantity` must be whole numbers", items.len() + 1)
            })?;
            let text = Value::Object(members).to_string();
            items.push(Item { worth, members: text[1..].to_owned() });
        }
        Ok(Dataset { items })
    }

    /// The first so many items, with totals; none, if there are not so many or the totals are too large.
    pub(crate) fn first(&self, count: usize, factor: u64) -> Option<Vec<u8>> {
        let items = self.items.get(..count).filter(|items| !items.is_empty())?;
        let length: usize = items.iter().map(|item| item.members.len() + 32).sum();
        let mut out = Vec::with_capacity(length + 64);
        out.extend_from_slice(b"{\"count\":");
        push_number(&mut out, count as u64);
        out.extend_from_slice(b",\"items\":");
        for (at, item) in items.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"[{\"total\":" } else { b",{\"total\":" });
            push_number(&mut out, item.worth.checked_mul(factor)?);
            out.push(b',');
            out.extend_from_slice(item.members.as_bytes());
        }
        out.extend_from_slice(b"]}");
        Some(out)
    }
}

fn worth(members: &Map<String, Value>) -> Option<u64> {
    let whole = |name: &str| members.get(name).and_then(Value::as_u64);
    whole("price")?.checked_mul(whole("quantity")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const TWO: &[u8] = br#"[
        {"id": 1, "name": "a \"b\"", "price": 328, "quantity": 15, "active": true, "tags": ["x", "y"],
         "rating": {"score": 48, "count": 53}},
        {"id": 2, "name": "c", "price": 7, "quantity": 3, "active": false, "tags": [],
         "rating": {"score": 1, "count": 0}}
    ]"#;

    fn first(dataset: &Dataset, count: usize, factor: u64) -> Option<String> {
        dataset.first(count, factor).map(|octets| String::from_utf8(octets).unwrap())
    }

    #[test]
    fn the_first_items_have_their_totals() {
        let dataset = Dataset::parse(TWO).unwrap();
        let all = first(&dataset, 2, 8).unwrap();
        expect![[r#"{"count":2,"items":[{"total":39360,"active":true,"id":1,"name":"a \"b\"","price":328,"quantity":15,"rating":{"count":53,"score":48},"tags":["x","y"]},{"total":168,"active":false,"id":2,"name":"c","price":7,"quantity":3,"rating":{"count":0,"score":1},"tags":[]}]}"#]]
        .assert_eq(&all);
        let read: Value = serde_json::from_str(&all).unwrap();
        assert_eq!(read["items"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn there_is_no_answer_of_no_items_of_too_many_or_of_totals_too_large() {
        let dataset = Dataset::parse(TWO).unwrap();
        assert!(first(&dataset, 1, 1).is_some());
        assert_eq!(first(&dataset, 0, 1), None);
        assert_eq!(first(&dataset, 3, 1), None);
        assert_eq!(first(&dataset, 1, u64::MAX), None);
    }

    #[test]
    fn what_is_no_data_set_is_refused() {
        for text in ["", "{}", "[1]", r#"[{"price": 1}]"#, r#"[{"price": 1.5, "quantity": 2}]"#] {
            assert!(Dataset::parse(text.as_bytes()).is_err(), "{text}");
        }
        let refusal = Dataset::parse(br#"[{"price": 1, "quantity": 2}, {}]"#).unwrap_err();
        assert_eq!(refusal, "item 2: `price` and `quantity` must be whole numbers");
    }
}
