package dyno;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.nio.file.Path;

/** Lays the handlers of files into the pipeline when a request asks for one, by its path. */
final class FileRouter extends ChannelInboundHandlerAdapter {

    private final Path folder;

    FileRouter(Path folder) {
        this.folder = folder;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof FullHttpRequest request
                && request.uri().startsWith(FileHandler.PREFIX)) {
            ChannelPipeline pipeline = context.pipeline();
            pipeline.addAfter(context.name(), null, new FileHandler(folder));
            pipeline.addAfter(context.name(), null, new ChunkedWriteHandler());
            pipeline.addAfter(context.name(), null, new HttpContentCompressor());
            pipeline.remove(this);
        }
        context.fireChannelRead(message);
    }
}
