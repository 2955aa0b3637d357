package dyno;

import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_LENGTH;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_TYPE;
import static io.netty.handler.codec.http.HttpResponseStatus.BAD_REQUEST;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_FOUND;
import static io.netty.handler.codec.http.HttpResponseStatus.OK;
import static io.netty.handler.codec.http.HttpVersion.HTTP_1_1;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Answers requests, by method and path. */
final class RequestHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern DELAY = Pattern.compile("/delay/([0-9]{1,5})");
    private static final Pattern ITEMS = Pattern.compile("/json/([0-9]{1,5})");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,5}");

    private final Catalogue catalogue;

    RequestHandler(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    private record Numbers(long[] values) {}

    private record Sum(long sum, int count) {}

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request)
            throws IOException {
        if (request.decoderResult().isFailure()) {
            badRequest(context);
            return;
        }
        QueryStringDecoder uri = decoder(request.uri());
        String path = uri.path();
        Matcher delay = DELAY.matcher(path);
        Matcher items = ITEMS.matcher(path);
        if (request.method().equals(HttpMethod.POST)) {
            post(context, path, request.content());
        } else if (!request.method().equals(HttpMethod.GET)) {
            notFound(context);
        } else if (path.equals("/")) {
            echo(context, uri);
        } else if (path.equals("/hello")) {
            answer(context, OK, "text/plain", utf8(context, "Hello, world!"));
        } else if (path.startsWith("/user/") && path.indexOf('/', 6) < 0 && path.length() > 6) {
            answer(context, OK, "text/plain", utf8(context, path.substring(6)));
        } else if (path.startsWith("/poll/") && Beat.period(path, "/poll/") > 0) {
            poll(context, Beat.period(path, "/poll/"));
        } else if (delay.matches()) {
            delay(context, Integer.parseInt(delay.group(1)));
        } else if (path.equals("/header")) {
            String value = request.headers().get("X-Request-Id", "");
            answer(context, OK, "text/plain", utf8(context, value));
        } else if (items.matches() && catalogue.has(Integer.parseInt(items.group(1)))) {
            list(context, Integer.parseInt(items.group(1)), uri.parameters().get("m"));
        } else {
            notFound(context);
        }
    }

    private static void post(ChannelHandlerContext context, String path, ByteBuf content)
            throws IOException {
        switch (path) {
            case "/user" -> answer(context, OK, "text/plain", content.retain());
            case "/echo" -> answer(context, OK, "application/octet-stream", content.retain());
            case "/sum" -> sum(context, content);
            default -> notFound(context);
        }
    }

    private static void echo(ChannelHandlerContext context, QueryStringDecoder uri) {
        if (uri.parameters().isEmpty()) {
            answer(context, OK, null, Unpooled.EMPTY_BUFFER);
            return;
        }
        List<String> values = uri.parameters().get("value");
        String answer = values == null
                ? "<error>no value specified</error>"
                : "<value>" + values.get(0) + "</value>";
        answer(context, OK, "text/xml", utf8(context, "<http_test>" + answer + "</http_test>"));
    }

    private static void poll(ChannelHandlerContext context, int seconds) {
        HttpResponse response = new DefaultHttpResponse(HTTP_1_1, OK);
        response.headers().set(CONTENT_TYPE, "text/plain");
        HttpUtil.setTransferEncodingChunked(response, true);
        context.write(response);
        Channel channel = context.channel();
        Beat.start(channel, seconds, () -> {
            ByteBuf tick = channel.alloc().buffer(5);
            tick.writeCharSequence("tick\n", StandardCharsets.US_ASCII);
            return new DefaultHttpContent(tick);
        });
    }

    private static void delay(ChannelHandlerContext context, int ms) {
        context.executor().schedule(
                () -> answer(context, OK, "text/plain", utf8(context, Integer.toString(ms))),
                ms,
                TimeUnit.MILLISECONDS);
    }

    private void list(ChannelHandlerContext context, int count, List<String> multipliers)
            throws IOException {
        if (multipliers == null || !NUMBER.matcher(multipliers.get(0)).matches()) {
            answer(context, BAD_REQUEST, null, Unpooled.EMPTY_BUFFER);
            return;
        }
        json(context, catalogue.first(count, Integer.parseInt(multipliers.get(0))));
    }

    private static void sum(ChannelHandlerContext context, ByteBuf content) throws IOException {
        try {
            Numbers numbers = JSON.readValue((InputStream) new ByteBufInputStream(content), Numbers.class);
            long[] values = numbers.values() == null ? new long[0] : numbers.values();
            json(context, new Sum(Arrays.stream(values).sum(), values.length));
        } catch (JsonProcessingException notJson) {
            answer(context, BAD_REQUEST, null, Unpooled.EMPTY_BUFFER);
        }
    }

    private static void json(ChannelHandlerContext context, Object value) throws IOException {
        ByteBuf body = Unpooled.wrappedBuffer(JSON.writeValueAsBytes(value));
        answer(context, OK, "application/json", body);
    }

    /** A target may be a whole URL, too (RFC 9112, 3.2.2). */
    private static QueryStringDecoder decoder(String target) {
        return target.startsWith("http://") || target.startsWith("https://")
                ? new QueryStringDecoder(URI.create(target))
                : new QueryStringDecoder(target);
    }

    private static void notFound(ChannelHandlerContext context) {
        answer(context, NOT_FOUND, null, Unpooled.EMPTY_BUFFER);
    }

    /** The codec hands over what it could not read, and reads no further: it is for us to say so. */
    private static void badRequest(ChannelHandlerContext context) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HTTP_1_1, BAD_REQUEST, Unpooled.EMPTY_BUFFER);
        response.headers().setInt(CONTENT_LENGTH, 0);
        HttpUtil.setKeepAlive(response, false);
        context.writeAndFlush(response);
    }

    private static void answer(
            ChannelHandlerContext context, HttpResponseStatus status, String type, ByteBuf body) {
        FullHttpResponse response = new DefaultFullHttpResponse(HTTP_1_1, status, body);
        response.headers().setInt(CONTENT_LENGTH, body.readableBytes());
        if (type != null) {
            response.headers().set(CONTENT_TYPE, type);
        }
        context.writeAndFlush(response);
    }

    private static ByteBuf utf8(ChannelHandlerContext context, String text) {
        return ByteBufUtil.writeUtf8(context.alloc(), text);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // What went wrong is the client's affair: usually it has gone.
        context.close();
    }
}
