package dyno;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;

/** Gives every message back; they come whole, by the aggregator before it. */
final class EchoSocketHandler extends SimpleChannelInboundHandler<WebSocketFrame> {

    @Override
    protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
        // Pings and closes are answered before they come here.
        context.writeAndFlush(frame.retain());
    }
}
