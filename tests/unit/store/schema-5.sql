-- A database as schema 5 made it. Never changed: files like this one exist.
CREATE TABLE run ( id INTEGER PRIMARY KEY, kind TEXT NOT NULL, graph TEXT NOT NULL, model_path TEXT NOT NULL, target TEXT NOT NULL, target_kind TEXT NOT NULL, device TEXT NOT NULL, environment TEXT NOT NULL, bindings TEXT NOT NULL, protocol TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL, begin_ms INTEGER NOT NULL, end_ms INTEGER, outcome TEXT, exit_code INTEGER);
CREATE INDEX run_graph ON run(graph, target_kind, id);
CREATE TABLE signature ( id TEXT PRIMARY KEY, text TEXT NOT NULL, op TEXT NOT NULL, category TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE verdict ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, signature TEXT NOT NULL REFERENCES signature(id), case_id TEXT NOT NULL, wall_ms INTEGER NOT NULL, verdict TEXT NOT NULL, implementation TEXT NOT NULL, shapes TEXT NOT NULL, dtype TEXT NOT NULL, dist TEXT NOT NULL, seed INTEGER NOT NULL, error REAL, tolerance REAL, tolerance_why TEXT NOT NULL, max_absolute REAL, max_relative REAL, max_ulp REAL, nmse REAL, cosine REAL, elements INTEGER, elements_over INTEGER, worst INTEGER, worst_got REAL, worst_want REAL, reference_error REAL, discriminates INTEGER NOT NULL, nondeterministic INTEGER NOT NULL, spread REAL, time_ns INTEGER, reason TEXT NOT NULL, log TEXT NOT NULL);
CREATE INDEX verdict_signature ON verdict(signature, run);
CREATE INDEX verdict_run ON verdict(run);
CREATE TABLE result ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, signature TEXT NOT NULL REFERENCES signature(id), wall_ms INTEGER NOT NULL, standing TEXT NOT NULL, coverage TEXT NOT NULL, implementation TEXT NOT NULL, nodes INTEGER NOT NULL, cases INTEGER NOT NULL, held INTEGER NOT NULL, failed INTEGER NOT NULL, no_evidence INTEGER NOT NULL, worst_error REAL, worst_ratio REAL, tolerance REAL, worst_case TEXT, target_ns INTEGER, reference_ns INTEGER, reference_name TEXT, target_samples BLOB, reference_samples BLOB, gate_failed INTEGER NOT NULL, gate_reason TEXT);
CREATE INDEX result_signature ON result(signature, run);
CREATE INDEX result_run ON result(run);
INSERT INTO run(id,kind,graph,model_path,target,target_kind,device,environment,bindings,protocol,version,seed,begin_ms,end_ms,outcome,exit_code)
 VALUES(1,'check','g1','m.onnx','opencl','opencl-pocl-cpu','cpu','{}','batch=1','','0.1.0',7,1700000000000,1700000001000,'held',0);
INSERT INTO run(id,kind,graph,model_path,target,target_kind,device,environment,bindings,protocol,version,seed,begin_ms)
 VALUES(2,'check','g1','m.onnx','opencl','opencl-pocl-cpu','cpu','{}','batch=1','','0.1.0',7,1700000100000);
INSERT INTO signature(id,text,op,category) VALUES('00112233445566aa','Softmax-13 axis=-1 (float32[2,3]) -> (float32[2,3])','Softmax-13','activation');
INSERT INTO verdict(run,signature,case_id,wall_ms,verdict,implementation,shapes,dtype,dist,seed,error,tolerance,tolerance_why,discriminates,nondeterministic,reason,log)
 VALUES(1,'00112233445566aa','1:00112233445566aa:f32:graph:normal:7',1700000000500,'PASS','softmax_rows','float32[2,3] -> float32[2,3]','float32','normal',7,2e-7,1e-6,'',1,0,'','');
INSERT INTO result(run,signature,wall_ms,standing,coverage,implementation,nodes,cases,held,failed,no_evidence,worst_error,worst_ratio,tolerance,worst_case,target_ns,reference_ns,reference_name,target_samples,reference_samples,gate_failed)
 VALUES(1,'00112233445566aa',1700000000600,'held','kernel','softmax_rows',4,4,4,0,0,2e-7,0.2,1e-6,'1:00112233445566aa:f32:graph:normal:7',1500,3000,'loops',x'dc05000000000000',x'b80b000000000000',0);
ALTER TABLE run ADD COLUMN environment_id TEXT;
ALTER TABLE result ADD COLUMN kernel_hash TEXT;
CREATE INDEX result_wall ON result(wall_ms);
CREATE TABLE decision ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, signature TEXT NOT NULL REFERENCES signature(id), gate TEXT NOT NULL, outcome TEXT NOT NULL, baseline TEXT NOT NULL, reason TEXT NOT NULL, slowdown REAL, low REAL, high REAL, p REAL, confirmed INTEGER NOT NULL, waived INTEGER NOT NULL);
CREATE INDEX decision_run ON decision(run);
UPDATE run SET environment_id='0123456789abcdef' WHERE id=1;
UPDATE result SET kernel_hash='00112233445566778899aabbccddeeff' WHERE run=1;
INSERT INTO decision(run,signature,gate,outcome,baseline,reason,slowdown,low,high,p,confirmed,waived)
 VALUES(1,'00112233445566aa','throughput','same','r1','',1.01,0.99,1.03,0.4,0,0);
CREATE TABLE run_output ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, output INTEGER NOT NULL, name TEXT NOT NULL, held INTEGER NOT NULL, error REAL, tolerance REAL, nmse REAL, cosine REAL, max_absolute REAL, file_error REAL, file_golden_error REAL, reason TEXT NOT NULL);
CREATE INDEX run_output_run ON run_output(run);
CREATE TABLE run_node ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, position INTEGER NOT NULL, node INTEGER, name TEXT NOT NULL, op TEXT NOT NULL, standing TEXT NOT NULL, implementation TEXT NOT NULL, dtype TEXT NOT NULL, runs INTEGER NOT NULL, isolated REAL, tolerance REAL, propagated REAL, allowed REAL, nonfinite_origin INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE INDEX run_node_run ON run_node(run);
CREATE TABLE run_figure ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, name TEXT NOT NULL, value REAL);
CREATE INDEX run_figure_run ON run_figure(run);
CREATE TABLE sensitivity ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, graph TEXT NOT NULL, node INTEGER NOT NULL, layer TEXT NOT NULL, dtype TEXT NOT NULL, damage REAL, max_error REAL, flips INTEGER NOT NULL, held INTEGER NOT NULL);
CREATE INDEX sensitivity_graph ON sensitivity(graph, run);
INSERT INTO run_figure(run,name,value) VALUES(1,'nodes',12.0);
CREATE TABLE bench ( run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, signature TEXT NOT NULL REFERENCES signature(id), wall_ms INTEGER NOT NULL, implementation TEXT NOT NULL, kernel_hash TEXT, cache TEXT NOT NULL, slices INTEGER NOT NULL, target_ns REAL, target_low_ns REAL, target_high_ns REAL, reference_ns REAL, reference_name TEXT, speedup REAL, speedup_low REAL, speedup_high REAL, flops REAL, read_bytes REAL, write_bytes REAL, level TEXT, roof_ns REAL, bound TEXT, launch_ns REAL, suspicion TEXT, skipped TEXT, target_slices BLOB, target_runs BLOB, reference_slices BLOB, reference_runs BLOB);
CREATE INDEX bench_signature ON bench(signature, run);
CREATE INDEX bench_run ON bench(run);
INSERT INTO bench(run,signature,wall_ms,implementation,kernel_hash,cache,slices,target_ns,target_low_ns,target_high_ns,reference_ns,reference_name,speedup,speedup_low,speedup_high)
 VALUES(1,'00112233445566aa',1700000000700,'softmax_rows','ab12','hot',9,1500,1400,1600,3000,'loops',2,1.9,2.1);
CREATE TABLE build ( target TEXT NOT NULL, source_high INTEGER NOT NULL, source_low INTEGER NOT NULL, log_hash INTEGER NOT NULL, wall_ms INTEGER NOT NULL, failed INTEGER NOT NULL, log TEXT NOT NULL, PRIMARY KEY(target, source_high, source_low, log_hash)) WITHOUT ROWID;
INSERT INTO build(target,source_high,source_low,log_hash,wall_ms,failed,log) VALUES('opencl',1,-2,3,1700000000800,0,'softmax.cl:3:1: warning: unused');
PRAGMA user_version=5;
