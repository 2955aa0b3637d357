package dyno;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.eclipse.jetty.util.ajax.JSON;

/** Answers requests, by method and path. */
final class RequestHandler extends Handler.Abstract {

    private static final Pattern USER = Pattern.compile("/user/([^/]+)");
    private static final Pattern DELAY = Pattern.compile("/delay/([0-9]{1,5})");
    private static final Pattern ITEMS = Pattern.compile("/json/([0-9]{1,5})");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,5}");
    private static final JSON JSON = new JSON();

    private final Object[] items;

    RequestHandler(Object[] items) {
        this.items = items;
    }

    /** What it does not handle, the server answers with 404. */
    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        String path = Request.getPathInContext(request);
        return switch (request.getMethod()) {
            case "GET" -> get(path, request, response, callback);
            case "POST" -> post(path, request, response, callback);
            default -> false;
        };
    }

    private boolean get(String path, Request request, Response response, Callback callback)
            throws Exception {
        Matcher user = USER.matcher(path);
        Matcher delay = DELAY.matcher(path);
        Matcher list = ITEMS.matcher(path);
        if (path.equals("/")) {
            echo(request, response, callback);
        } else if (path.equals("/hello")) {
            answer(response, "text/plain", "Hello, world!", callback);
        } else if (user.matches()) {
            answer(response, "text/plain", user.group(1), callback);
        } else if (delay.matches()) {
            int ms = Integer.parseInt(delay.group(1));
            request.getComponents().getScheduler().schedule(
                    () -> answer(response, "text/plain", Integer.toString(ms), callback),
                    ms,
                    TimeUnit.MILLISECONDS);
        } else if (path.equals("/header")) {
            String value = request.getHeaders().get("X-Request-Id");
            answer(response, "text/plain", value == null ? "" : value, callback);
        } else if (list.matches() && has(Integer.parseInt(list.group(1)))) {
            list(Integer.parseInt(list.group(1)), request, response, callback);
        } else {
            return false;
        }
        return true;
    }

    private boolean post(String path, Request request, Response response, Callback callback)
            throws Exception {
        switch (path) {
            case "/user" -> giveBack("text/plain", request, response, callback);
            case "/echo" -> giveBack("application/octet-stream", request, response, callback);
            case "/sum" -> sum(request, response, callback);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void echo(Request request, Response response, Callback callback) throws Exception {
        Fields query = Request.extractQueryParameters(request);
        if (query.isEmpty()) {
            callback.succeeded();
            return;
        }
        String value = query.getValue("value");
        String answer = value == null
                ? "<error>no value specified</error>"
                : "<value>" + value + "</value>";
        answer(response, "text/xml", "<http_test>" + answer + "</http_test>", callback);
    }

    private void giveBack(String type, Request request, Response response, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
        Content.copy(request, response, callback);
    }

    private boolean has(int count) {
        return count >= 1 && count <= items.length;
    }

    private void list(int count, Request request, Response response, Callback callback)
            throws Exception {
        String m = Request.extractQueryParameters(request).getValue("m");
        if (m == null || !NUMBER.matcher(m).matches()) {
            badRequest(request, response, callback);
            return;
        }
        List<Object> listed =
                Stream.of(items).limit(count).map(item -> priced(item, Long.parseLong(m))).toList();
        json(response, Map.of("items", listed, "count", count), callback);
    }

    private static Object priced(Object item, long m) {
        Map<Object, Object> priced = new LinkedHashMap<>((Map<?, ?>) item);
        priced.put("total", (Long) priced.get("price") * (Long) priced.get("quantity") * m);
        return priced;
    }

    private void sum(Request request, Response response, Callback callback) throws Exception {
        Object body = parsed(Content.Source.asString(request));
        if (body instanceof Map<?, ?> numbers && numbers.get("values") instanceof Object[] values) {
            long sum = Arrays.stream(values).mapToLong(value -> (Long) value).sum();
            json(response, Map.of("sum", sum, "count", values.length), callback);
        } else {
            badRequest(request, response, callback);
        }
    }

    /** Null if it is no JSON. */
    private static Object parsed(String text) {
        try {
            return JSON.fromJSON(text);
        } catch (RuntimeException notJson) {
            return null;
        }
    }

    private static void badRequest(Request request, Response response, Callback callback) {
        Response.writeError(request, response, callback, HttpStatus.BAD_REQUEST_400);
    }

    private static void json(Response response, Object value, Callback callback) {
        answer(response, "application/json", JSON.toJSON(value), callback);
    }

    private static void answer(Response response, String type, String body, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
        Content.Sink.write(response, true, body, callback);
    }
}
