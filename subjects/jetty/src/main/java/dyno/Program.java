package dyno;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Jetty;
import org.eclipse.jetty.util.ajax.JSON;

/** dyno's subject for Jetty: {@code Program ADDRESS PORT}, or {@code Program --version}. */
public final class Program {

    private Program() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("--version")) {
            System.out.println(Jetty.VERSION + " on Java " + Runtime.version());
            return;
        }
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(args[0]);
        connector.setPort(Integer.parseInt(args[1]));
        server.addConnector(connector);
        Handler requests = new RequestHandler(items(System.getenv("DATASET")));
        String database = System.getenv("DATABASE_URL");
        server.setHandler(
                database == null
                        ? requests
                        : new Handler.Sequence(new DatabaseHandler(opened(database)), requests));
        server.start();
        server.join();
    }

    private static Database opened(String url) {
        return new Database(URI.create(url), Integer.parseInt(System.getenv("DATABASE_MAX_CONN")));
    }

    /** Without a file there are no items. */
    private static Object[] items(String path) throws Exception {
        return path == null
                ? new Object[0]
                : (Object[]) new JSON().fromJSON(Files.readString(Path.of(path)));
    }
}
