package dyno;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler.HandshakeComplete;

/** Beats on a WebSocket, once its handshake is done. */
final class PollSocketHandler extends SimpleChannelInboundHandler<WebSocketFrame> {

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (!(event instanceof HandshakeComplete handshake)) {
            context.fireUserEventTriggered(event);
            return;
        }
        String path = handshake.requestUri();
        int seconds = path.startsWith("/wspoll/") ? Beat.period(path, "/wspoll/") : 0;
        if (seconds == 0) {
            context.close();
        } else {
            Beat.start(context.channel(), seconds, () -> new TextWebSocketFrame("tick"));
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
        // Pings and closes are answered before they come here, and nothing else is asked for.
    }
}
