package dyno;

import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.StringUtil;
import org.eclipse.jetty.util.ajax.JSON;

/** Answers requests for rows of the database; a thread waits for them. */
final class DatabaseHandler extends Handler.Abstract {

    private static final JSON JSON = new JSON();

    private final Database database;

    DatabaseHandler(Database database) {
        this.database = database;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        if (!request.getMethod().equals("GET")) {
            return false;
        }
        switch (Request.getPathInContext(request)) {
            case "/db" -> json(response, members(database.worlds(1).get(0)), callback);
            case "/queries" -> json(response, list(database.worlds(count(request))), callback);
            case "/updates" -> json(response, list(database.updated(count(request))), callback);
            case "/fortunes" ->
                answer(response, "text/html; charset=utf-8", page(database.fortunes()), callback);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** How many rows are wanted, from 1 to 500. */
    private static int count(Request request) throws Exception {
        String count = Request.extractQueryParameters(request).getValue("queries");
        try {
            return Math.min(Math.max(Integer.parseInt(count), 1), 500);
        } catch (NumberFormatException noNumber) {
            return 1;
        }
    }

    private static List<Map<String, Integer>> list(List<Database.World> rows) {
        return rows.stream().map(DatabaseHandler::members).toList();
    }

    private static Map<String, Integer> members(Database.World row) {
        return Map.of("id", row.id(), "randomNumber", row.randomNumber());
    }

    private static String page(List<Database.Fortune> fortunes) {
        StringBuilder page = new StringBuilder();
        page.append("<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>");
        page.append("<tr><th>id</th><th>message</th></tr>");
        for (Database.Fortune fortune : fortunes) {
            page.append("<tr><td>")
                    .append(fortune.id())
                    .append("</td><td>")
                    .append(StringUtil.sanitizeXmlString(fortune.message()))
                    .append("</td></tr>");
        }
        return page.append("</table></body></html>").toString();
    }

    private static void json(Response response, Object value, Callback callback) {
        answer(response, "application/json", JSON.toJSON(value), callback);
    }

    private static void answer(Response response, String type, String body, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
        Content.Sink.write(response, true, body, callback);
    }
}
