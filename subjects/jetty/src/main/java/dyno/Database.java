package dyno;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Rows of PostgreSQL, by its JDBC driver and HikariCP. */
final class Database {

    record World(int id, int randomNumber) {}

    record Fortune(int id, String message) {}

    private static final String READ = "SELECT id, randomnumber FROM world WHERE id = ?";
    private static final String UPDATE = "UPDATE world SET randomnumber = ? WHERE id = ?";
    private static final String FORTUNES = "SELECT id, message FROM fortune";
    private static final int WORLDS = 10_000;
    private static final int IDLE_CONNECTIONS_MIN = 10;

    private final HikariDataSource pool;

    /** The pool connects at once. */
    Database(URI url, int connectionsMax) {
        String[] user = url.getUserInfo().split(":", 2);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(
                "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath());
        config.setUsername(user[0]);
        config.setPassword(user[1]);
        config.setMaximumPoolSize(connectionsMax);
        // By itself, the pool would keep as many connections open as it may have.
        config.setMinimumIdle(Math.min(IDLE_CONNECTIONS_MIN, connectionsMax));
        pool = new HikariDataSource(config);
    }

    List<World> worlds(int count) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement read = connection.prepareStatement(READ)) {
            List<World> rows = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                rows.add(world(read, number()));
            }
            return rows;
        }
    }

    /** As many rows, with the new numbers that it gave them in one transaction. */
    List<World> updated(int count) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement read = connection.prepareStatement(READ);
                PreparedStatement update = connection.prepareStatement(UPDATE)) {
            // A transaction that fails is rolled back by the pool.
            connection.setAutoCommit(false);
            List<World> rows = new ArrayList<>();
            for (int id : distinctIds(count)) {
                World row = new World(world(read, id).id(), number());
                update.setInt(1, row.randomNumber());
                update.setInt(2, row.id());
                update.addBatch();
                rows.add(row);
            }
            update.executeBatch();
            connection.commit();
            return rows;
        }
    }

    List<Fortune> fortunes() throws SQLException {
        List<Fortune> rows = new ArrayList<>();
        try (Connection connection = pool.getConnection();
                PreparedStatement read = connection.prepareStatement(FORTUNES);
                ResultSet found = read.executeQuery()) {
            while (found.next()) {
                rows.add(new Fortune(found.getInt("id"), found.getString("message")));
            }
        }
        rows.add(new Fortune(0, "Additional fortune added at request time."));
        rows.sort(Comparator.comparing(Fortune::message));
        return rows;
    }

    private static World world(PreparedStatement read, int id) throws SQLException {
        read.setInt(1, id);
        try (ResultSet found = read.executeQuery()) {
            found.next();
            return new World(found.getInt("id"), found.getInt("randomnumber"));
        }
    }

    /** An id or a value: both are from 1 to 10,000. */
    private static int number() {
        return ThreadLocalRandom.current().nextInt(1, WORLDS + 1);
    }

    /** In order, so that transactions lock rows in the same order. */
    private static int[] distinctIds(int count) {
        return ThreadLocalRandom.current()
                .ints(1, WORLDS + 1)
                .distinct()
                .limit(count)
                .sorted()
                .toArray();
    }
}
