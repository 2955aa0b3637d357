package dyno;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;

/** Lays the handlers of a WebSocket into the pipeline when a request asks for one, by its path. */
final class SocketRouter extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof FullHttpRequest request) {
            String path = request.uri();
            int seconds = path.startsWith("/wspoll/") ? Beat.period(path, "/wspoll/") : 0;
            if (seconds > 0) {
                open(context, path, new PollSocketHandler(seconds));
            } else if (path.equals("/wsecho")) {
                open(context, path,
                        new WebSocketFrameAggregator(Server.BODY_MAX_BYTES),
                        new EchoSocketHandler());
            }
        }
        context.fireChannelRead(message);
    }

    private void open(ChannelHandlerContext context, String path, ChannelHandler... handlers) {
        WebSocketServerProtocolConfig config =
                WebSocketServerProtocolConfig.newBuilder().websocketPath(path).build();
        ChannelPipeline pipeline = context.pipeline();
        for (int i = handlers.length - 1; i >= 0; i--) {
            pipeline.addAfter(context.name(), null, handlers[i]);
        }
        pipeline.addAfter(context.name(), null, new WebSocketServerProtocolHandler(config));
        pipeline.remove(this);
    }
}
