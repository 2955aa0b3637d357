package dyno;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.util.Version;

/** dyno's subject for Netty: {@code Server ADDRESS PORT}, or {@code Server --version}. */
public final class Server {

    static final int BODY_MAX_BYTES = 1024 * 1024;

    private Server() {}

    public static void main(String[] args) throws InterruptedException {
        if (args[0].equals("--version")) {
            String version = Version.identify().get("netty-codec-http").artifactVersion();
            System.out.println(version + " on Java " + Runtime.version());
            return;
        }
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new Pipeline())
                .bind(args[0], Integer.parseInt(args[1]))
                .sync()
                .channel()
                .closeFuture()
                .sync();
    }

    private static final class Pipeline extends ChannelInitializer<SocketChannel> {

        @Override
        protected void initChannel(SocketChannel channel) {
            channel.pipeline()
                    .addLast(new HttpServerCodec())
                    .addLast(new HttpServerKeepAliveHandler())
                    .addLast(new HttpObjectAggregator(BODY_MAX_BYTES))
                    .addLast(new SocketRouter())
                    .addLast(new RequestHandler());
        }
    }
}
