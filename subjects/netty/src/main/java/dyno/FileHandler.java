package dyno;

import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_TYPE;
import static io.netty.handler.codec.http.HttpHeaderNames.IF_MODIFIED_SINCE;
import static io.netty.handler.codec.http.HttpHeaderNames.LAST_MODIFIED;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_FOUND;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_MODIFIED;
import static io.netty.handler.codec.http.HttpResponseStatus.OK;
import static io.netty.handler.codec.http.HttpVersion.HTTP_1_1;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.stream.ChunkedNioFile;
import java.io.IOException;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Date;

/** Sends the files of a folder, in chunks, so that a compressor can stand before it. */
final class FileHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

    static final String PREFIX = "/static/";

    private final Path folder;

    FileHandler(Path folder) {
        this.folder = folder;
    }

    @Override
    public boolean acceptInboundMessage(Object message) {
        return message instanceof FullHttpRequest request
                && request.method().equals(HttpMethod.GET)
                && request.uri().startsWith(PREFIX);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request)
            throws IOException {
        String name = request.uri().substring(PREFIX.length());
        Path path = folder.resolve(name);
        if (name.indexOf('/') >= 0 || !Files.isRegularFile(path)) {
            withoutBody(context, NOT_FOUND);
            return;
        }
        Date changed = new Date(Files.getLastModifiedTime(path).toMillis() / 1000 * 1000);
        String known = request.headers().get(IF_MODIFIED_SINCE);
        if (known != null && changed.equals(DateFormatter.parseHttpDate(known))) {
            withoutBody(context, NOT_MODIFIED);
            return;
        }
        FileChannel file = FileChannel.open(path);
        String type = URLConnection.guessContentTypeFromName(name);
        HttpResponse response = new DefaultHttpResponse(HTTP_1_1, OK);
        response.headers()
                .set(CONTENT_TYPE, type == null ? "application/octet-stream" : type)
                .set(LAST_MODIFIED, DateFormatter.format(changed));
        HttpUtil.setContentLength(response, file.size());
        context.write(response);
        context.writeAndFlush(new HttpChunkedInput(new ChunkedNioFile(file)));
    }

    private static void withoutBody(ChannelHandlerContext context, HttpResponseStatus status) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HTTP_1_1, status, Unpooled.EMPTY_BUFFER);
        if (status.equals(NOT_FOUND)) {
            HttpUtil.setContentLength(response, 0);
        }
        context.writeAndFlush(response);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // What went wrong is the client's affair: usually it has gone.
        context.close();
    }
}
