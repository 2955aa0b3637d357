package dyno;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.util.List;

/** The items of a data set, and lists of the first of them, with totals. */
record Catalogue(List<Item> items) {

    record Item(
            long id,
            String name,
            String category,
            long price,
            long quantity,
            boolean active,
            List<String> tags,
            Rating rating) {}

    record Rating(long score, long count) {}

    record PricedItem(@JsonUnwrapped Item item, long total) {}

    record Listed(List<PricedItem> items, int count) {}

    /** Without a file there are no items. */
    static Catalogue read(String path) throws IOException {
        if (path == null) {
            return new Catalogue(List.of());
        }
        ObjectMapper json = new ObjectMapper();
        return new Catalogue(json.readValue(new File(path), new TypeReference<List<Item>>() {}));
    }

    boolean has(int count) {
        return count >= 1 && count <= items.size();
    }

    Listed first(int count, int m) {
        return new Listed(
                items.subList(0, count).stream()
                        .map(item -> new PricedItem(item, item.price() * item.quantity() * m))
                        .toList(),
                count);
    }
}
