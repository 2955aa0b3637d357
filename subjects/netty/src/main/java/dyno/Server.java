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
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * dyno's subject for Netty: {@code Server ADDRESS PORT [h2c | CHAIN KEY]}, or {@code Server
 * --version}.
 */
public final class Server {

    static final int BODY_MAX_BYTES = 1024 * 1024;

    private final Catalogue catalogue;
    private final Path files;

    private Server(Catalogue catalogue, Path files) {
        this.catalogue = catalogue;
        this.files = files;
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        if (args[0].equals("--version")) {
            String version = Version.identify().get("netty-codec-http").artifactVersion();
            System.out.println(version + " on Java " + Runtime.version());
            return;
        }
        Path files = Path.of(System.getenv().getOrDefault("FILES", "static"));
        Server server = new Server(Catalogue.read(System.getenv("DATASET")), files);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(server.pipeline(args))
                .bind(args[0], Integer.parseInt(args[1]))
                .sync()
                .channel()
                .closeFuture()
                .sync();
    }

    private ChannelInitializer<SocketChannel> pipeline(String[] args) throws IOException {
        if (args.length == 4) {
            SslContext tls = tls(new File(args[2]), new File(args[3]));
            return initializer(channel -> channel.pipeline()
                    .addLast(tls.newHandler(channel.alloc()))
                    .addLast(new ByAlpn()));
        }
        return initializer(args.length == 3 ? this::speakHttp2 : this::speakHttp1);
    }

    private static SslContext tls(File chain, File key) throws IOException {
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

    private void speakHttp1(Channel channel) {
        channel.pipeline()
                .addLast(new HttpServerCodec())
                .addLast(new HttpServerKeepAliveHandler())
                .addLast(new HttpObjectAggregator(BODY_MAX_BYTES))
                .addLast(new SocketRouter())
                .addLast(new FileRouter(files))
                .addLast(new RequestHandler(catalogue));
    }

    /** Each stream is a channel of its own, in which requests and answers look like HTTP/1.1's. */
    private void speakHttp2(Channel channel) {
        channel.pipeline()
                .addLast(Http2FrameCodecBuilder.forServer().build())
                .addLast(new Http2MultiplexHandler(initializer(stream -> stream.pipeline()
                        .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                        .addLast(new HttpObjectAggregator(BODY_MAX_BYTES))
                        .addLast(new FileRouter(files))
                        .addLast(new RequestHandler(catalogue)))));
    }

    private static <C extends Channel> ChannelInitializer<C> initializer(Consumer<C> handlers) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(C channel) {
                handlers.accept(channel);
            }
        };
    }

    private final class ByAlpn extends ApplicationProtocolNegotiationHandler {

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
