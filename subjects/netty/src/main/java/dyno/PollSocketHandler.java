package dyno;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler.HandshakeComplete;

/** Beats on a WebSocket, once its handshake is done. */
final class PollSocketHandler extends SimpleChannelInboundHandler<WebSocketFrame> {

    private final int seconds;

    PollSocketHandler(int seconds) {
        this.seconds = seconds;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof HandshakeComplete) {
            Beat.start(context.channel(), seconds, () -> new TextWebSocketFrame("tick"));
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
        // Pings and closes are answered before they come here, and nothing else is asked for.
    }
}
