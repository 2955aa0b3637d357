package dyno;

import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_LENGTH;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_TYPE;
import static io.netty.handler.codec.http.HttpResponseStatus.BAD_REQUEST;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_FOUND;
import static io.netty.handler.codec.http.HttpResponseStatus.OK;
import static io.netty.handler.codec.http.HttpVersion.HTTP_1_1;

import io.netty.buffer.ByteBuf;
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
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Answers requests, by method and path. */
final class RequestHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        if (request.decoderResult().isFailure()) {
            badRequest(context);
            return;
        }
        QueryStringDecoder uri = decoder(request.uri());
        String path = uri.path();
        if (request.method().equals(HttpMethod.POST) && path.equals("/user")) {
            answer(context, OK, "text/plain", request.content().retain());
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
        } else {
            notFound(context);
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
