package dyno;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.util.Version;
import java.io.File;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

/**
 * dyno's subject for Netty: {@code Server ADDRESS PORT [h2c | CHAIN KEY]}, or {@code Server
 * --version}.
 */
public final class Server {

    static final int BODY_MAX_BYTES = 1024 * 1024;

    private Server() {}

    public static void main(String[] args) throws InterruptedException, SSLException {
        if (args[0].equals("--version")) {
            String version = Version.identify().get("netty-codec-http").artifactVersion();
            System.out.println(version + " on Java " + Runtime.version());
            return;
        }
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(pipeline(args))
                .bind(args[0], Integer.parseInt(args[1]))
                .sync()
                .channel()
                .closeFuture()
                .sync();
    }

    private static ChannelInitializer<SocketChannel> pipeline(String[] args) throws SSLException {
        if (args.length == 4) {
            SslContext tls = tls(new File(args[2]), new File(args[3]));
            return initializer(channel -> channel.pipeline()
                    .addLast(tls.newHandler(channel.alloc()))
                    .addLast(new ByAlpn()));
        }
        return initializer(args.length == 3 ? Server::speakHttp2 : Server::speakHttp1);
    }

    private static SslContext tls(File chain, File key) throws SSLException {
        return SslContextBuilder.forServer(chain, key)
                .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        Protocol.ALPN,
                        SelectorFailureBehavior.NO_ADVERTISE,
                        SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2,
                        ApplicationProtocolNames.HTTP_1_1))
                .build();
    }

    private static void speakHttp1(Channel channel) {
        channel.pipeline()
                .addLast(new HttpServerCodec())
                .addLast(new HttpServerKeepAliveHandler())
                .addLast(new HttpObjectAggregator(BODY_MAX_BYTES))
                .addLast(new SocketRouter())
                .addLast(new RequestHandler());
    }

    /** Each stream is a channel of its own, in which requests and answers look like HTTP/1.1's. */
    private static void speakHttp2(Channel channel) {
        channel.pipeline()
                .addLast(Http2FrameCodecBuilder.forServer().build())
                .addLast(new Http2MultiplexHandler(initializer(stream -> stream.pipeline()
                        .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                        .addLast(new HttpObjectAggregator(BODY_MAX_BYTES))
                        .addLast(new RequestHandler()))));
    }

    private static <C extends Channel> ChannelInitializer<C> initializer(Consumer<C> handlers) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(C channel) {
                handlers.accept(channel);
            }
        };
    }

    private static final class ByAlpn extends ApplicationProtocolNegotiationHandler {

        ByAlpn() {
            super(ApplicationProtocolNames.HTTP_1_1);
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext context, String protocol) {
            if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                speakHttp2(context.channel());
            } else {
                speakHttp1(context.channel());
            }
        }
    }
}
