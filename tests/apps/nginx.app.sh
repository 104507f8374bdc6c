# SPDX-License-Identifier: MIT
#
# nginx: files read by a pool of threads (error-checking mutexes), fetched by eight at a time, come as they are
packages='nginx-light curl' programs='nginx curl' binds='pthread_mutex_lock pthread_cond_wait pthread_cond_signal'

prepare() {
	mkdir files
	matter 3000000 >matter
	for n in 1 2 3 4 5 6 7 8; do
		tail -c +$((n * 1000)) matter >files/$n
	done
}

run() {
	turns=$(amount 20 4)
	# Its workers are who starts it: root's would be nobody's, who may not look in here.
	cat >conf <<END
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
daemon off;
worker_processes 2;
pid $PWD/pid;
error_log stderr;
thread_pool readers threads=8;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2; fastcgi_temp_path $PWD/t3; uwsgi_temp_path $PWD/t4; scgi_temp_path $PWD/t5;
	aio threads=readers;
	sendfile off;
	output_buffers 1 32k;
	server { listen unix:$PWD/socket; root $work/files; }
}
END
	for turn in $(seq "$turns"); do
		for n in 1 2 3 4 5 6 7 8; do
			printf 'url = "http://here/%d"\noutput = "got.%d.%d"\n' $n "$turn" $n
		done
	done >urls
	serve server.log nginx -c "$PWD/conf" -p "$PWD" -e "$PWD/error.log"
	await curl -sf --unix-socket socket http://here/1 -o first
	timed curl -sf --unix-socket socket --parallel --parallel-max 8 -K urls
	for turn in $(seq "$turns"); do
		for n in 1 2 3 4 5 6 7 8; do
			must cmp "$work/files/$n" "got.$turn.$n"
		done
	done
	kill -QUIT "$server"
	stopped
	! grep -E '\[(alert|emerg|crit)\]' server.log error.log || fail 'the log has an alert'
}
